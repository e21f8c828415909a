import { eq, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { takeInbox } from '#db/queues/relay-queues.ts';
import { attempts, inbox, orders } from '#db/schema.ts';
import { ATTEMPT_STATES, judgeObservation, OBSERVED_OUTCOMES, type PurchaseEvent } from '#domain/relay/observation.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';
import { settleKnown } from '#fulfilment/reports/settle-known.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import {
  acceptTestOrder,
  claimTestSend,
  deliverTestEvent,
  openTestAttempt,
  storeTestReport,
  TEST_KEYS,
} from '#test/support/work/order-rows.ts';
import { passQueueTime } from '#test/support/work/relay.ts';
import { readReport } from '#worker/relay/inbox.ts';

const serviceId = 'so-known';

const opened = disposedAtEnd(await openTestDatabase());
const { database } = opened;
const orderId = await acceptTestOrder(database);
const attempt = await openTestAttempt(database, orderId);
await claimTestSend(database, attempt.id);
await storeTestReport(database, attempt.id, {
  outcome: 'completed',
  serviceId,
  charged: { amount: '4.50', currency: 'EUR' },
});
beforeEach(async () => {
  await database.run((db) => db.delete(inbox));
  await database.run((db) => db.update(attempts).set({ state: 'completed' }));
});

const HOUR = 3_600_000;
const take = () => database.run((db) => takeInbox(db, { batch: 500, leaseMs: HOUR }));

/** Takes the rows and settles those that are known. @returns the number of settled rows. */
async function settle(change: (event: PurchaseEvent) => PurchaseEvent = (event) => event): Promise<number> {
  await passQueueTime(database, HOUR);
  const read = (await take()).map((row) => ({ row, event: change(readReport(TEST_KEYS, row)) }));
  return (await database.run((db) => settleKnown(db, read, new Date()))).size;
}

describe('reports that are settled together', () => {
  it('are those that the tables call known, in each status of the work and each state of its attempt', async () => {
    for (const outcome of OBSERVED_OUTCOMES) await deliverTestEvent(database, { outcome, serviceId });
    // The test needs no eSIM.
    await database.run((db) => db.execute(sql`alter table orders drop constraint orders_completed_with_esim`));
    for (const status of statusesOf('order')) {
      await database.run((db) => db.update(orders).set({ status }).where(eq(orders.id, orderId)));
      for (const state of ATTEMPT_STATES) {
        await database.run((db) => db.update(attempts).set({ state }).where(eq(attempts.id, attempt.id)));
        await database.run((db) => db.update(inbox).set({ state: 'pending', decision: null, appliedAt: null }));
        await settle();
        const rows = await database.run((db) => db.select().from(inbox).orderBy(inbox.id));
        const work = { status, attemptState: state, latestAttempt: true };
        expect(
          rows.map((row) => row.state),
          `${status}, ${state}`,
        ).toEqual(
          OBSERVED_OUTCOMES.map((outcome) => (judgeObservation(work, outcome) === 'known' ? 'applied' : 'pending')),
        );
      }
    }
    await database.run((db) => db.update(orders).set({ status: 'processing' }).where(eq(orders.id, orderId)));
  });

  it('are stored as those that are judged alone', async () => {
    await deliverTestEvent(database, { outcome: 'completed', serviceId, reference: attempt.reference! });
    expect(await settle()).toBe(1);
    expect(await database.run((db) => db.select().from(inbox))).toMatchObject([
      {
        state: 'applied',
        decision: 'known',
        attemptId: attempt.id,
        subjectKind: 'order',
        subjectId: orderId,
        note: 'Known already: the attempt was completed.',
        appliedAt: expect.any(Date),
      },
    ]);
  });

  it.each<[string, Partial<PurchaseEvent>]>([
    ['another reference', { reference: 'of another attempt' }],
    ['an unknown purchase', { serviceId: 'so-unknown' }],
    ['another product', { productId: 9_999 }],
    ['another price', { charged: { amount: '4.51', currency: 'EUR' } }],
    ['another currency', { charged: { amount: '4.50', currency: 'USD' } }],
    ['the end of a subscription', { endedAs: 'expired' }],
    ['a cancellation', { cancellation: {} }],
  ])('are none that name %s', async (_, change) => {
    await deliverTestEvent(database, { outcome: 'completed', serviceId });
    expect(await settle((event) => ({ ...event, ...change }))).toBe(0);
  });

  it('are none that were judged as news before: their workflow may not have been told', async () => {
    await deliverTestEvent(database, { outcome: 'completed', serviceId });
    await database.run((db) => db.update(inbox).set({ decision: 'advance' }));
    expect(await settle()).toBe(0);
  });

  it('are none that another relay has taken since', async () => {
    await deliverTestEvent(database, { outcome: 'completed', serviceId });
    const read = (await take()).map((row) => ({ row, event: readReport(TEST_KEYS, row) }));
    await passQueueTime(database, HOUR);
    expect(await take()).toHaveLength(1);
    expect(await database.run((db) => settleKnown(db, read, new Date()))).toEqual(new Set());
  });

  it.each(['orders', 'attempts'] as const)('are none while %s are locked, and nobody waits', async (table) => {
    await deliverTestEvent(database, { outcome: 'completed', serviceId });
    await database.transaction(async (tx) => {
      if (table === 'orders') await tx.select().from(orders).for('update');
      else await tx.select().from(attempts).for('update');
      expect(await settle()).toBe(0);
    });
    expect(await settle()).toBe(1);
  });
});
