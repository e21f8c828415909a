import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readProgress } from '#db/attempts/attempts.ts';
import type { Database } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { recordMovement } from '#db/money/journal.ts';
import { inboxKey } from '#db/queues/inbox-keys.ts';
import { markUnmatched, postpone, takePending } from '#db/queues/inbox-queue.ts';
import { markApplied } from '#db/queues/inbox.ts';
import { postponeOutbox, requestStart, requestWake, settleOutbox, takeOutbox } from '#db/queues/outbox.ts';
import { attempts, inbox, journal, orders, outbox } from '#db/schema.ts';
import { recordNotification } from '#fulfilment/reports/record-notification.ts';
import { completeOrder } from '#fulfilment/work/complete-order.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import {
  acceptTestOrder,
  deliverTestEvent,
  openTestAttempt,
  orderWork,
  storeTestReport,
} from '#test/support/work/order-rows.ts';
import { passQueueTime } from '#test/support/work/relay.ts';

let opened: OpenTestDatabase;
let database: Database;
beforeAll(async () => {
  opened = await openTestDatabase();
  ({ database } = opened);
});
beforeEach(async () => {
  await database.run((db) => db.delete(inbox));
  await database.run((db) => db.delete(outbox));
});
afterAll(() => opened.drop());

/** Longer than any test, so a leased or postponed row is never due. */
const HOUR = 3_600_000;
const LEASED = { leaseMs: HOUR };
const take = (batch: number) => database.run((db) => takePending(db, { batch, ...LEASED }));
const deliverMany = async (count: number) => {
  for (let n = 0; n < count; n += 1)
    await deliverTestEvent(database, { outcome: 'processing', serviceId: `so-${n}-${Math.random()}` });
};
const inboxStates = async () =>
  (await database.run((db) => db.select().from(inbox).orderBy(inbox.id))).map(({ state }) => state);

describe('the inbox', () => {
  it('gives each row to one of several concurrent relays', async () => {
    await deliverMany(30);
    const taken = (await Promise.all(Array.from({ length: 6 }, () => take(10)))).flat().map(({ id }) => id);
    expect(new Set(taken).size).toBe(taken.length);
    const rest = (await take(30)).map(({ id }) => id);
    expect(new Set([...taken, ...rest]).size).toBe(30);
  });

  it.each([
    ['inbox', (batch: number) => take(batch)],
    ['outbox', (batch: number) => database.run((db) => takeOutbox(db, { batch, ...LEASED }))],
  ] as const)('(%s) returns exactly the requested number of rows', async (queue, takeSome) => {
    if (queue === 'inbox') await deliverMany(7);
    else for (let n = 0; n < 7; n += 1) await acceptTestOrder(database);
    expect([await takeSome(2), await takeSome(4), await takeSome(4)].map((rows) => rows.length)).toEqual([2, 4, 1]);
  });

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
    await database.run((db) => postpone(db, row!, { error: 'Temporal is down', delayMs: HOUR, isLasting: false }));
    expect(await take(1)).toEqual([]);
    await passQueueTime(database, HOUR);
    expect(await take(1)).toMatchObject([{ id: row!.id, lastError: 'Temporal is down', tries: 2 }]);
  });

  it('returns an unmatched row to pending when an attempt with its reference is opened', async () => {
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-early', reference: 'ref-early' });
    const [row] = await take(1);
    await database.run((db) => markUnmatched(db, row!));
    expect(await inboxStates()).toEqual(['unmatched']);
    await openTestAttempt(database, await acceptTestOrder(database), { reference: 'ref-other' });
    expect(await inboxStates()).toEqual(['unmatched']);
    await openTestAttempt(database, await acceptTestOrder(database), { reference: 'ref-early' });
    expect(await inboxStates()).toEqual(['pending']);
  });

  it('returns an unmatched row to pending when its order of the service is stored', async () => {
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-stored-later' });
    const [row] = await take(1);
    await database.run((db) => markUnmatched(db, row!));
    const attempt = await openTestAttempt(database, await acceptTestOrder(database));
    await storeTestReport(database, attempt.id, { outcome: 'processing', serviceId: 'so-stored-later' });
    expect(await inboxStates()).toEqual(['pending']);
  });

  it('judges a row against the final state when its order has ended meanwhile', async () => {
    const orderId = await acceptTestOrder(database);
    await deliverMany(1);
    const [row] = await take(1);
    await end(orderId, 'failed');
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
    expect(await end(orderId, 'failed', [inboxKey(rows[0]!)])).toBe('observations_pending');
    expect(await inboxStates()).toEqual(['relayed', 'relayed']);
    expect(await end(orderId, 'abandoned', [inboxKey(rows[0]!)])).toBe('recorded');
    expect(await inboxStates()).toEqual(['applied', 'pending']);
  });

  it('lets an order fail by the rows that report the failure', async () => {
    const orderId = await acceptTestOrder(database);
    await deliverMany(1);
    const [row] = await take(1);
    await database.run((db) => db.update(inbox).set({ subjectKind: 'order', subjectId: orderId, decision: 'advance' }));
    await database.transaction((tx) => recordNotification(tx, row!.id, orderWork(orderId), 'notified'));
    expect(await end(orderId, 'failed', [inboxKey(row!)])).toBe('recorded');
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
    expect(await end(orderId, 'failed', [answered])).toBe('observations_pending');
  });

  it('a report without a decision is not marked as answered, because its facts are not stored', async () => {
    const orderId = await acceptTestOrder(database);
    await deliverMany(1);
    const [row] = await take(1);
    await database.run((db) => db.update(inbox).set({ subjectKind: 'order', subjectId: orderId }));
    await database.transaction((tx) => markApplied(tx, [inboxKey(row!)], 'before the set back', new Date()));
    expect(await inboxStates()).toEqual(['pending']);
    expect(await end(orderId, 'failed', [inboxKey(row!)])).toBe('observations_pending');
  });
});

async function end(orderId: string, status: 'failed' | 'abandoned', applied: readonly string[] = []) {
  const entry = { event: `order.${status}`, message: 'No.', dedupKey: 'end' };
  const failure = { class: 'invalid_request', detail: 'No.' } as const;
  const step = { status, entry, failure, applied };
  return database.transaction((tx) => recordStep(tx, orderWork(orderId), step, new Date()));
}

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
    await database.run((db) => db.delete(outbox));
    await database
      .transaction(async (tx) => {
        await requestStart(tx, orderWork(orderId));
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    expect(await database.run((db) => db.select().from(outbox))).toEqual([]);
  });

  it('is shared by concurrent relays, and removes only processed rows', async () => {
    for (let n = 0; n < 12; n += 1) await acceptTestOrder(database);
    const options = { batch: 4, ...LEASED };
    const batches = await Promise.all(Array.from({ length: 3 }, () => database.run((db) => takeOutbox(db, options))));
    const taken = batches.flat().map(({ id }) => id);
    expect(new Set(taken).size).toBe(taken.length);
    await database.run((db) => settleOutbox(db, batches[0]!));
    await passQueueTime(database, HOUR);
    const left = await database.run((db) => takeOutbox(db, { ...options, batch: 100 }));
    expect(left).toHaveLength(12 - batches[0]!.length);
  });

  it('keeps a wake-up request that arrives during the delivery of an earlier one', async () => {
    const work = orderWork(await acceptTestOrder(database));
    await database.run((db) => db.delete(outbox));
    const options = { batch: 10, ...LEASED };
    await database.transaction((tx) => requestWake(tx, work));
    const first = await database.run((db) => takeOutbox(db, options));
    expect(first).toHaveLength(1);
    await database.transaction((tx) => requestWake(tx, work));
    await database.run((db) => settleOutbox(db, first));
    const second = await database.run((db) => takeOutbox(db, options));
    expect(second).toMatchObject([{ topic: 'wake_work', subjectId: work.id }]);
    await database.run((db) => settleOutbox(db, second));
    await passQueueTime(database, HOUR);
    expect(await database.run((db) => takeOutbox(db, options))).toEqual([]);
  });

  it('keeps a postponed row until it is due', async () => {
    await acceptTestOrder(database);
    const options = { batch: 1, ...LEASED };
    const [row] = await database.run((db) => takeOutbox(db, options));
    await database.run((db) =>
      postponeOutbox(db, row!, { error: 'Temporal is down', delayMs: 2 * HOUR, isLasting: false }),
    );
    await passQueueTime(database, HOUR);
    expect(await database.run((db) => takeOutbox(db, options))).toEqual([]);
    await passQueueTime(database, HOUR);
    expect(await database.run((db) => takeOutbox(db, options))).toMatchObject([
      { lastError: 'Temporal is down', tries: 2 },
    ]);
  });
});

describe('the journal', () => {
  const money = { amount: '3.20', currency: 'USD' };

  it('contains one debit and one credit per attempt, for any number of records', async () => {
    const { id: attemptId } = await openTestAttempt(database, await acceptTestOrder(database));
    const record = (direction: 'debit' | 'credit') =>
      database.run((db) => recordMovement(db, { direction, attemptId, money }));
    expect([await record('debit'), await record('debit'), await record('credit'), await record('credit')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(await database.run((db) => db.select().from(journal).where(eq(journal.causeId, attemptId)))).toHaveLength(2);
  });

  it.each([
    ['update', sql`update journal set amount = 0`],
    ['delete', sql`delete from journal`],
    ['truncate', sql`truncate journal`],
  ])('is append-only, so the database refuses every %s', async (_what, statement) => {
    const { id: attemptId } = await openTestAttempt(database, await acceptTestOrder(database));
    await database.run((db) => recordMovement(db, { direction: 'debit', attemptId, money }));
    const before = await database.run((db) => db.select().from(journal));
    await expect(database.run((db) => db.execute(statement))).rejects.toMatchObject({
      cause: { message: expect.stringContaining('append-only') },
    });
    expect(await database.run((db) => db.select().from(journal))).toEqual(before);
  });
});

describe('an order', () => {
  it('takes no further step after its end', async () => {
    const orderId = await acceptTestOrder(database);
    await end(orderId, 'failed');
    await expect(end(orderId, 'failed')).rejects.toThrow('has ended as failed');
  });

  it('is never completed without its eSIM, because the database refuses it', async () => {
    const orderId = await acceptTestOrder(database);
    await expect(
      database.run((db) => db.update(orders).set({ status: 'completed' }).where(eq(orders.id, orderId))),
    ).rejects.toMatchObject({ cause: { constraint: 'orders_completed_with_esim' } });
  });

  it('does not fail while one of its attempts may have bought', async () => {
    for (const state of ['sending', 'unknown', 'processing', 'completed'] as const) {
      const orderId = await acceptTestOrder(database);
      const attempt = await openTestAttempt(database, orderId);
      await database.run((db) => db.update(attempts).set({ state }).where(eq(attempts.id, attempt.id)));
      await expect(
        database.transaction((tx) =>
          recordStep(
            tx,
            orderWork(orderId),
            { status: 'failed', entry: { event: 'order.failed', message: 'No.' } },
            new Date(),
          ),
        ),
      ).resolves.toBe('may_be_bought');
    }
  });

  it('is completed with one eSIM, which no other order can have', async () => {
    const esim = {
      id: newId('esim'),
      serviceEsimId: 'e-shared',
      iccid: '8900000000000000001',
      encryptedActivationCode: Buffer.from('encrypted'),
      status: 'available',
      installedAt: null,
      activatedAt: null,
      expiresAt: null,
    };
    const finish = async () => {
      const orderId = await acceptTestOrder(database);
      const { id: attemptId } = await openTestAttempt(database, orderId);
      return database.transaction((tx) =>
        completeOrder(tx, orderId, { esim, attemptId, charged: undefined, applied: [] }, new Date()),
      );
    };
    await finish();
    esim.id = newId('esim');
    await expect(finish()).rejects.toMatchObject({ cause: { constraint: 'esims_service_esim_id_unique' } });
  });
});
