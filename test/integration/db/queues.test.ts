import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { inboxKey, markApplied } from '#db/queues/inbox.ts';
import { requestStart, requestWake } from '#db/queues/outbox.ts';
import {
  changeHeld,
  holdRow,
  postpone,
  settleOutbox,
  storeJudgement,
  takeInbox,
  takeOutbox,
} from '#db/queues/relay-queues.ts';
import { inbox, outbox } from '#db/schema.ts';
import { readProgress } from '#db/work/attempts.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import {
  acceptTestOrder,
  deliverTestEvent,
  endTestOrder,
  openTestAttempt,
  orderWork,
  storeTestReport,
} from '#test/support/work/order-rows.ts';
import { passQueueTime } from '#test/support/work/relay.ts';
import { recordNotification } from '#worker/relay/inbox.ts';

const { database } = disposedAtEnd(await openTestDatabase());
const clearOutbox = () => database.run((db) => db.delete(outbox));
beforeEach(async () => {
  await database.run((db) => db.delete(inbox));
  await clearOutbox();
});

/** Longer than any test, so a leased or postponed row is never due. */
const HOUR = 3_600_000;
const OUTAGE = { error: 'Temporal is down', isLasting: false };

const take = (batch: number) => database.run((db) => takeInbox(db, { batch, leaseMs: HOUR }));
const takeStarts = (batch: number) => database.run((db) => takeOutbox(db, { batch, leaseMs: HOUR }));
const deliverMany = async (count: number) => {
  for (let n = 0; n < count; n += 1)
    await deliverTestEvent(database, { outcome: 'processing', serviceId: randomUUID() });
};
/** Delivers an event and takes its row. */
const delivered = async () => {
  await deliverMany(1);
  return (await take(1))[0]!;
};
const inboxStates = async () =>
  (await database.run((db) => db.select().from(inbox).orderBy(inbox.id))).map(({ state }) => state);

describe('the inbox', () => {
  it.each([
    ['inbox', take],
    ['outbox', takeStarts],
  ] as const)(
    '(%s) gives each row to one of several concurrent relays, and no more than wanted',
    async (queue, some) => {
      if (queue === 'inbox') await deliverMany(30);
      else for (let n = 0; n < 30; n += 1) await acceptTestOrder(database);
      const batches = await Promise.all(Array.from({ length: 6 }, () => some(4)));
      expect(batches.filter(({ length }) => length > 4)).toEqual([]);
      const taken = [...batches.flat(), ...(await some(60))].map(({ id }) => id);
      expect([taken.length, new Set(taken).size]).toEqual([30, 30]);
      expect(await some(1)).toEqual([]);
    },
  );

  it('returns rows oldest first, and those of a dead relay after its lease', async () => {
    await deliverMany(3);
    const first = await take(2);
    const all = await database.run((db) => db.select({ id: inbox.id }).from(inbox).orderBy(inbox.id));
    expect(first.map(({ id }) => id)).toEqual(all.slice(0, 2).map(({ id }) => id));
    expect(await take(10)).toHaveLength(1);
    expect(await take(10)).toHaveLength(0);
    await passQueueTime(database, HOUR);
    const again = await take(10);
    expect(again.map(({ id }) => id)).toEqual(expect.arrayContaining(first.map(({ id }) => id)));
    expect(again.find(({ id }) => id === first[0]!.id)!.tries).toBe(2);
  });

  it('keeps a postponed row with the reason until it is due', async () => {
    const row = await delivered();
    await database.run((db) => postpone(db, 'inbox', row, { ...OUTAGE, delayMs: HOUR }));
    expect(await take(1)).toEqual([]);
    await passQueueTime(database, HOUR);
    expect(await take(1)).toMatchObject([{ id: row.id, lastError: 'Temporal is down', tries: 2 }]);
  });

  it('returns an unmatched row to pending when an attempt with its reference is opened', async () => {
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-early', reference: 'ref-early' });
    const [row] = await take(1);
    await database.run((db) => changeHeld(db, row!, { state: 'unmatched' }));
    expect(await inboxStates()).toEqual(['unmatched']);
    await openTestAttempt(database, await acceptTestOrder(database), { reference: 'ref-other' });
    expect(await inboxStates()).toEqual(['unmatched']);
    await openTestAttempt(database, await acceptTestOrder(database), { reference: 'ref-early' });
    expect(await inboxStates()).toEqual(['pending']);
  });

  it('returns an unmatched row to pending when its order of the service is stored', async () => {
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-stored-later' });
    const [row] = await take(1);
    await database.run((db) => changeHeld(db, row!, { state: 'unmatched' }));
    const attempt = await openTestAttempt(database, await acceptTestOrder(database));
    await storeTestReport(database, attempt.id, { outcome: 'processing', serviceId: 'so-stored-later' });
    expect(await inboxStates()).toEqual(['pending']);
  });

  it('judges a row against the final state when its order has ended meanwhile', async () => {
    const orderId = await acceptTestOrder(database);
    const row = await delivered();
    await endTestOrder(database, orderId);
    await database.transaction((tx) => recordNotification(tx, row.id, orderWork(orderId), 'notified'));
    expect(await inboxStates()).toEqual(['pending']);
    expect(await take(1)).toHaveLength(1);
  });

  it('returns the unanswered rows of an ended workflow to the relay', async () => {
    const orderId = await acceptTestOrder(database);
    await deliverMany(2);
    const rows = await take(2);
    await database.run((db) => db.update(inbox).set({ subjectKind: 'order', subjectId: orderId, decision: 'advance' }));
    for (const { id } of rows)
      await database.transaction((tx) => recordNotification(tx, id, orderWork(orderId), 'notified'));
    expect(await inboxStates()).toEqual(['relayed', 'relayed']);
    expect((await database.run((db) => readProgress(db, orderWork(orderId)))).reports).toHaveLength(2);
    const applied = [inboxKey(rows[0]!)];
    expect(await endTestOrder(database, orderId, { applied })).toBe('observations_pending');
    expect(await inboxStates()).toEqual(['relayed', 'relayed']);
    expect(await endTestOrder(database, orderId, { status: 'abandoned', applied })).toBe('recorded');
    expect(await inboxStates()).toEqual(['applied', 'pending']);
  });

  it('lets an order fail by the rows that report the failure', async () => {
    const orderId = await acceptTestOrder(database);
    const row = await delivered();
    await database.run((db) => db.update(inbox).set({ subjectKind: 'order', subjectId: orderId, decision: 'advance' }));
    await database.transaction((tx) => recordNotification(tx, row.id, orderWork(orderId), 'notified'));
    expect(await endTestOrder(database, orderId, { applied: [inboxKey(row)] })).toBe('recorded');
  });

  it('keeps the first result of a row', async () => {
    const row = await delivered();
    await database.run((db) => db.update(inbox).set({ decision: 'advance' }));
    await database.transaction((tx) => markApplied(tx, [inboxKey(row)], 'the first', new Date()));
    await database.transaction((tx) => markApplied(tx, [inboxKey(row)], 'the second', new Date()));
    expect(await database.run((db) => db.select().from(inbox))).toMatchObject([
      { state: 'applied', note: 'the first' },
    ]);
  });
});

describe('after PostgreSQL has lost commits', () => {
  it('a report with the id of an answered one stays pending and blocks the end of its work', async () => {
    const orderId = await acceptTestOrder(database);
    const row = await delivered();
    await database.run((db) =>
      db.update(inbox).set({ subjectKind: 'order', subjectId: orderId, decision: 'advance', state: 'relayed' }),
    );
    const answered = inboxKey({ id: row.id, bodyHash: Buffer.alloc(32, 9) });
    await database.transaction((tx) => markApplied(tx, [answered], 'of another report', new Date()));
    expect(await inboxStates()).toEqual(['relayed']);
    expect(await endTestOrder(database, orderId, { applied: [answered] })).toBe('observations_pending');
  });

  it('a report without a decision is not marked as answered, because its facts are not stored', async () => {
    const orderId = await acceptTestOrder(database);
    const row = await delivered();
    await database.run((db) => db.update(inbox).set({ subjectKind: 'order', subjectId: orderId }));
    await database.transaction((tx) => markApplied(tx, [inboxKey(row)], 'before the set back', new Date()));
    expect(await inboxStates()).toEqual(['pending']);
    expect(await endTestOrder(database, orderId, { applied: [inboxKey(row)] })).toBe('observations_pending');
  });
});

describe('a lease of the inbox', () => {
  it('uses only the clock of the database, so a wrong process clock has no effect', async () => {
    await deliverMany(1);
    const setClock = vi.useFakeTimers({ toFake: ['Date'] });
    try {
      setClock.setSystemTime(0);
      const [row] = await take(1);
      expect(row).toBeDefined();
      setClock.setSystemTime(new Date('2100-01-01'));
      expect(await take(1)).toEqual([]);
      await database.run((db) => postpone(db, 'inbox', row!, { ...OUTAGE, delayMs: 0 }));
      setClock.setSystemTime(0);
      expect(await take(1)).toMatchObject([{ id: row!.id }]);
    } finally {
      setClock.useRealTimers();
    }
  });

  it('begins anew for a row that is judged, and not for a relay that has lost it', async () => {
    const first = await delivered();
    await passQueueTime(database, HOUR);
    const [second] = await take(1);
    await passQueueTime(database, HOUR);
    const unjudged = { state: 'pending', decision: null };
    const hold = (row: typeof first) => database.transaction((tx) => holdRow(tx, row));
    expect(await hold(first)).toMatchObject({ ...unjudged, isOurs: false });
    expect(await hold(second!)).toMatchObject({ ...unjudged, isOurs: true });
    const judged = {
      attemptId: 'att_1',
      work: orderWork('ord_1'),
      decision: 'advance',
      end: { leaseMs: HOUR },
    } as const;
    await database.transaction((tx) => storeJudgement(tx, second!, judged));
    expect(await take(1)).toEqual([]);
    await database.run((db) => postpone(db, 'inbox', first, { error: 'late', delayMs: 0, isLasting: false }));
    expect(await take(1)).toEqual([]);
  });
});

describe('the outbox', () => {
  it('contains one start request per order, for any number of requests', async () => {
    const orderId = await acceptTestOrder(database);
    for (let n = 0; n < 3; n += 1) await database.transaction((tx) => requestStart(tx, orderWork(orderId)));
    expect(await database.run((db) => db.select().from(outbox))).toMatchObject([
      { topic: 'start_work', subjectId: orderId },
    ]);
  });

  it('contains no request of a rolled back transaction', async () => {
    const orderId = await acceptTestOrder(database);
    await clearOutbox();
    await database
      .transaction(async (tx) => {
        await requestStart(tx, orderWork(orderId));
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    expect(await database.run((db) => db.select().from(outbox))).toEqual([]);
  });

  it('keeps a wake-up request that arrives during the delivery of an earlier one', async () => {
    const work = orderWork(await acceptTestOrder(database));
    await clearOutbox();
    await database.transaction((tx) => requestWake(tx, work));
    const first = await takeStarts(10);
    expect(first).toHaveLength(1);
    await database.transaction((tx) => requestWake(tx, work));
    await database.run((db) => settleOutbox(db, first));
    const second = await takeStarts(10);
    expect(second).toMatchObject([{ topic: 'wake_work', subjectId: work.id }]);
    await database.run((db) => settleOutbox(db, second));
    await passQueueTime(database, HOUR);
    expect(await takeStarts(10)).toEqual([]);
  });
});
