import { asc, eq } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { publishEvents } from '#db/events/event-log.ts';
import { events } from '#db/schema.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { recordHeld } from '#test/support/api/event-feed.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { isWaitingForLock, openTestDatabase } from '#test/support/servers/database.ts';
import { isSettled, waitFor } from '#test/support/wait-for.ts';
import { acceptTestOrder, orderWork } from '#test/support/work/order-rows.ts';

let announced = 0;
const { database } = disposedAtEnd(await openTestDatabase({ onRowsAdded: () => (announced += 1) }));

beforeEach(async () => {
  await database.run((db) => db.delete(events));
  announced = 0;
});

const publish = (batch = 100) => database.transaction((tx) => publishEvents(tx, batch));
const eventsOf = (subjectId: string) =>
  database.run((db) => db.select().from(events).where(eq(events.subjectId, subjectId)).orderBy(asc(events.sequence)));

describe('the events of work', () => {
  it('contain each status once, also after other events, with the previous one, and no status of a running request', async () => {
    const orderId = await acceptTestOrder(database, 'EV-1');
    const move = (status: 'held' | 'submitting' | 'failed', failed: FailureClass) => {
      const failure = { class: failed, detail: 'Test.' };
      const step = { work: orderWork(orderId), status, event: `order.${status}`, message: 'Test.', failure };
      return database.transaction((tx) => recordStep(tx, step, new Date()));
    };
    await move('held', 'not_sent');
    await move('submitting', 'not_sent');
    await database.transaction((tx) => recordHeld(tx, orderId));
    await move('held', 'not_sent');
    await move('held', 'insufficient_balance');
    await move('failed', 'invalid_request');
    const recorded = await eventsOf(orderId);
    expect(recorded.map(({ type, data }) => [type, data['previous_status'], data['failure_class']])).toEqual([
      ['order.accepted', null, null],
      ['order.held', 'accepted', 'not_sent'],
      ['order.held', undefined, undefined],
      ['order.held', 'held', 'insufficient_balance'],
      ['order.failed', 'held', 'invalid_request'],
    ]);
    expect(recorded[0]?.data).toMatchObject({ external_order_id: 'EV-1', status: 'accepted', esim_id: null });
    expect(announced).toBe(5);
  });

  it('contain nothing of a rolled back transaction', async () => {
    await expect(
      database.transaction(async (tx) => {
        await recordHeld(tx);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await publish()).toEqual([]);
    expect(announced).toBe(0);
  });
});

describe('the order of events', () => {
  it('gives an event committed later the later position, so a reader misses none', async () => {
    const early = newId('order');
    const late = newId('order');
    const begun = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const slow = database.transaction(async (tx) => {
      await recordHeld(tx, early);
      begun.resolve();
      await mayCommit.promise;
    });
    await begun.promise;
    await database.transaction((tx) => recordHeld(tx, late));
    expect((await publish()).map(({ subjectId, position }) => [subjectId, position])).toEqual([[late, 1n]]);
    mayCommit.resolve();
    await slow;
    expect((await publish()).map(({ subjectId, position }) => [subjectId, position])).toEqual([[early, 2n]]);
  });

  it('has no gaps with concurrent publishers', async () => {
    await Promise.all(Array.from({ length: 40 }, () => database.transaction((tx) => recordHeld(tx))));
    const all: bigint[] = [];
    while (all.length < 40) {
      const rounds = await Promise.all(Array.from({ length: 4 }, async () => publish(7)));
      all.push(...rounds.flat().map(({ position }) => position));
    }
    expect(all.toSorted((left, right) => Number(left - right))).toEqual(
      Array.from({ length: 40 }, (_, index) => BigInt(index + 1)),
    );
  });

  it('waits for another publisher, and then publishes the events that it missed', async () => {
    await database.transaction((tx) => recordHeld(tx));
    const others = await database.transaction(async (tx) => {
      expect(await publishEvents(tx, 100)).toHaveLength(1);
      // Recorded after the read of the lock holder.
      await database.transaction((late) => recordHeld(late));
      const waiting = publish(100);
      await waitFor(
        'the other process waits for the lock or gives up',
        async () => (await isWaitingForLock(database)) || isSettled(waiting),
      );
      return { waiting };
    });
    expect(await others.waiting).toHaveLength(1);
  });
});
