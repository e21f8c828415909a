import { beforeEach, describe, expect, it } from 'vitest';
import { inboxKey, markApplied } from '#db/queues/inbox.ts';
import { changeHeld, postpone, takeInbox, takeOutbox } from '#db/queues/relay-queues.ts';
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

const opened = disposedAtEnd(await openTestDatabase());
const { database } = opened;
beforeEach(async () => {
  await database.run((db) => db.delete(inbox));
  await database.run((db) => db.delete(outbox));
});

/** Longer than any test, so a leased or postponed row is never due. */
const HOUR = 3_600_000;
const LEASED = { leaseMs: HOUR };

const take = (batch: number) => database.run((db) => takeInbox(db, { batch, ...LEASED }));
const deliverMany = async (count: number) => {
  for (let n = 0; n < count; n += 1)
    await deliverTestEvent(database, { outcome: 'processing', serviceId: `so-${n}-${Math.random()}` });
};
const inboxStates = async () =>
  (await database.run((db) => db.select().from(inbox).orderBy(inbox.id))).map(({ state }) => state);

describe('the inbox', () => {
  it.each([
    ['inbox', take],
    ['outbox', (batch: number) => database.run((db) => takeOutbox(db, { batch, ...LEASED }))],
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
    await deliverMany(1);
    const [row] = await take(1);
    await database.run((db) =>
      postpone(db, 'inbox', row!, { error: 'Temporal is down', delayMs: HOUR, isLasting: false }),
    );
    expect(await take(1)).toEqual([]);
    await passQueueTime(database, HOUR);
    expect(await take(1)).toMatchObject([{ id: row!.id, lastError: 'Temporal is down', tries: 2 }]);
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
    await deliverMany(1);
    const [row] = await take(1);
    await endTestOrder(database, orderId);
    await database.transaction((tx) => recordNotification(tx, row!.id, orderWork(orderId), 'notified'));
    expect(await inboxStates()).toEqual(['pending']);
    expect(await take(1)).toHaveLength(1);
  });

  it('returns the unanswered rows of an ended workflow to the relay', async () => {
    const orderId = await acceptTestOrder(database);
    await deliverMany(2);
    const rows = await take(2);
    await database.run((db) => db.update(inbox).set({ subjectKind: 'order', subjectId: orderId, decision: 'advance' }));
    for (const row of rows)
      await database.transaction((tx) => recordNotification(tx, row.id, orderWork(orderId), 'notified'));
    expect(await inboxStates()).toEqual(['relayed', 'relayed']);
    expect((await database.run((db) => readProgress(db, orderWork(orderId)))).reports).toHaveLength(2);
    expect(await endTestOrder(database, orderId, { applied: [inboxKey(rows[0]!)] })).toBe('observations_pending');
    expect(await inboxStates()).toEqual(['relayed', 'relayed']);
    expect(await endTestOrder(database, orderId, { status: 'abandoned', applied: [inboxKey(rows[0]!)] })).toBe(
      'recorded',
    );
    expect(await inboxStates()).toEqual(['applied', 'pending']);
  });

  it('lets an order fail by the rows that report the failure', async () => {
    const orderId = await acceptTestOrder(database);
    await deliverMany(1);
    const [row] = await take(1);
    await database.run((db) => db.update(inbox).set({ subjectKind: 'order', subjectId: orderId, decision: 'advance' }));
    await database.transaction((tx) => recordNotification(tx, row!.id, orderWork(orderId), 'notified'));
    expect(await endTestOrder(database, orderId, { applied: [inboxKey(row!)] })).toBe('recorded');
  });

  it('keeps the first result of a row', async () => {
    await deliverMany(1);
    const [row] = await take(1);
    await database.run((db) => db.update(inbox).set({ decision: 'advance' }));
    await database.transaction((tx) => markApplied(tx, [inboxKey(row!)], 'the first', new Date()));
    await database.transaction((tx) => markApplied(tx, [inboxKey(row!)], 'the second', new Date()));
    expect(await database.run((db) => db.select().from(inbox))).toMatchObject([
      { state: 'applied', note: 'the first' },
    ]);
  });
});

describe('after PostgreSQL has lost commits', () => {
  it('a report with the id of an answered one stays pending and blocks the end of its work', async () => {
    const orderId = await acceptTestOrder(database);
    await deliverMany(1);
    const [row] = await take(1);
    await database.run((db) =>
      db.update(inbox).set({ subjectKind: 'order', subjectId: orderId, decision: 'advance', state: 'relayed' }),
    );
    const answered = inboxKey({ id: row!.id, bodyHash: Buffer.alloc(32, 9) });
    await database.transaction((tx) => markApplied(tx, [answered], 'of another report', new Date()));
    expect(await inboxStates()).toEqual(['relayed']);
    expect(await endTestOrder(database, orderId, { applied: [answered] })).toBe('observations_pending');
  });

  it('a report without a decision is not marked as answered, because its facts are not stored', async () => {
    const orderId = await acceptTestOrder(database);
    await deliverMany(1);
    const [row] = await take(1);
    await database.run((db) => db.update(inbox).set({ subjectKind: 'order', subjectId: orderId }));
    await database.transaction((tx) => markApplied(tx, [inboxKey(row!)], 'before the set back', new Date()));
    expect(await inboxStates()).toEqual(['pending']);
    expect(await endTestOrder(database, orderId, { applied: [inboxKey(row!)] })).toBe('observations_pending');
  });
});
