import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { holdRow, postpone, storeJudgement, takeInbox } from '#db/queues/relay-queues.ts';
import { inbox } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { deliverTestEvent, orderWork } from '#test/support/work/order-rows.ts';
import { passQueueTime } from '#test/support/work/relay.ts';

/** Longer than any test, so a leased or postponed row is never due. */
const HOUR = 3_600_000;

const { database } = disposedAtEnd(await openTestDatabase());
beforeEach(() => database.run((db) => db.delete(inbox)));

const take = (batch: number) => database.run((db) => takeInbox(db, { batch, leaseMs: HOUR }));
const deliver = () => deliverTestEvent(database, { outcome: 'processing', serviceId: randomUUID() });

describe('a lease of the inbox', () => {
  it('uses only the clock of the database, so a wrong process clock has no effect', async () => {
    await deliver();
    const setClock = vi.useFakeTimers({ toFake: ['Date'] });
    try {
      setClock.setSystemTime(0);
      const [row] = await take(1);
      expect(row).toBeDefined();
      setClock.setSystemTime(new Date('2100-01-01'));
      expect(await take(1)).toEqual([]);
      await database.run((db) =>
        postpone(db, 'inbox', row!, { error: 'Temporal is down', delayMs: 0, isLasting: false }),
      );
      setClock.setSystemTime(0);
      expect(await take(1)).toMatchObject([{ id: row!.id }]);
    } finally {
      setClock.useRealTimers();
    }
  });

  it('begins anew for a row that is judged, and not for a relay that has lost it', async () => {
    await deliver();
    const [first] = await take(1);
    await passQueueTime(database, HOUR);
    const [second] = await take(1);
    await passQueueTime(database, HOUR);
    expect(await database.transaction((tx) => holdRow(tx, first!))).toMatchObject({
      state: 'pending',
      decision: null,
      isOurs: false,
    });
    expect(await database.transaction((tx) => holdRow(tx, second!))).toMatchObject({
      state: 'pending',
      decision: null,
      isOurs: true,
    });
    const judgement = {
      attemptId: 'att_1',
      work: orderWork('ord_1'),
      decision: 'advance',
      end: { leaseMs: HOUR },
    } as const;
    await database.transaction((tx) => storeJudgement(tx, second!, judgement));
    expect(await take(1)).toEqual([]);
    await database.run((db) => postpone(db, 'inbox', first!, { error: 'late', delayMs: 0, isLasting: false }));
    expect(await take(1)).toEqual([]);
  });
});
