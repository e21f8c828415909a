import { randomUUID } from 'node:crypto';
import { and, eq, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { inboxKey } from '#db/queues/inbox.ts';
import { events } from '#db/schema.ts';
import { findAttemptById } from '#db/work/attempts.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { withReference, type OrderAttempt } from '#test/support/work/order-desk.ts';
import {
  acceptTestOrder,
  deliverTestEvent,
  deliverUnreadableEvent,
  openTestAttempt,
  storeTestReport,
  endTestOrder,
  type TestEvent,
} from '#test/support/work/order-rows.ts';
import { HOUR, RelayBench } from '#test/support/work/relay-bench.ts';
import { passQueueTime } from '#test/support/work/relay.ts';

const bench = disposedAtEnd(await RelayBench.start());
beforeEach(() => bench.empty());

const attemptOf = ({ attempt: { id } }: { readonly attempt: { readonly id: string } }) =>
  bench.database.run((db) => findAttemptById(db, id));
/** Delivers an event of an order, and processes it. */
async function report(event: TestEvent): Promise<void> {
  await deliverTestEvent(bench.database, event);
  await bench.drain();
}
/** Processes what was postponed. */
async function drainLater(): Promise<void> {
  await passQueueTime(bench.database, HOUR);
  await bench.drain();
}
const namesOf = ({ serviceId, reference }: OrderAttempt) => ({ serviceId: serviceId ?? '', reference });

describe('reports of the service', () => {
  it('are stored with the attempt before its workflow is signalled', async () => {
    const { orderId, attempt } = await bench.bought('so-1');
    await report({ outcome: 'completed', serviceId: 'so-1' });
    const [row] = await bench.rows();
    const judged = { source: 'webhook', attemptNumber: 1, outcome: 'completed', decision: 'advance' };
    const observation = { inboxId: inboxKey(row!), epoch: expect.any(String), ...judged };
    expect(bench.temporal.signalled).toEqual([{ orderId, observation }]);
    expect(row).toMatchObject({ state: 'relayed', attemptId: attempt.id, subjectId: orderId });
    expect(await attemptOf({ attempt })).toMatchObject({ state: 'completed' });
  });

  it('without new information are settled without a signal', async () => {
    await bench.bought('so-2');
    await report({ outcome: 'processing', serviceId: 'so-2' });
    expect(bench.temporal.signalled).toEqual([]);
    expect(await bench.rows()).toMatchObject([{ state: 'applied', decision: 'known' }]);
  });

  it('keep their decision when they are signalled again after a crash', async () => {
    const { orderId } = await bench.bought('so-3');
    await deliverTestEvent(bench.database, { outcome: 'completed', serviceId: 'so-3' });
    bench.temporal.afterSignal = () => {
      throw new Error('the relay died here');
    };
    await bench.drain();
    expect(await bench.rows()).toMatchObject([{ state: 'pending', decision: 'advance' }]);
    bench.temporal.afterSignal = () => undefined;
    await drainLater();
    expect(bench.temporal.signalled).toHaveLength(2);
    // The attempt has advanced, but the decision of the row stays. Otherwise a workflow that missed the first signal
    // would never learn of it.
    expect(bench.temporal.signalled[1]).toEqual(bench.temporal.signalled[0]);
    expect(bench.temporal.signalled[1]).toMatchObject({ orderId, observation: { decision: 'advance' } });
    expect(await bench.rows()).toMatchObject([{ state: 'relayed' }]);
  });

  it('stay pending while their workflow has ended and the work has not', async () => {
    await bench.bought('so-unheard');
    await deliverTestEvent(bench.database, { outcome: 'completed', serviceId: 'so-unheard' });
    bench.temporal.outcome = 'finished';
    await bench.drain();
    expect(await bench.rows()).toMatchObject([
      { state: 'pending', decision: 'advance', lastError: expect.stringContaining('the workflow has ended') },
    ]);
    bench.temporal.outcome = 'notified';
    await drainLater();
    expect(await bench.rows()).toMatchObject([{ state: 'relayed' }]);
  });

  it('refused by PostgreSQL as invalid data are quarantined after a few tries', async () => {
    const { orderId } = await bench.bought('so-refused');
    const condition = sql`service_id <> 'so-refused' or state <> 'completed'`;
    await bench.database.run((db) => db.execute(sql`alter table attempts add constraint refuses check (${condition})`));
    await deliverTestEvent(bench.database, { outcome: 'completed', serviceId: 'so-refused' });
    for (const wait of [0, HOUR, 2 * HOUR]) {
      expect(await bench.rows()).toMatchObject([{ state: 'pending' }]);
      await passQueueTime(bench.database, wait);
      await bench.drain();
    }
    await bench.database.run((db) => db.execute(sql`alter table attempts drop constraint refuses`));
    const note = 'Cannot be processed: PostgreSQL error 23514';
    expect(await bench.rows()).toMatchObject([{ state: 'quarantined', note, tries: 3 }]);
    expect(bench.temporal.signalled.filter((word) => word.orderId === orderId)).toEqual([]);
  });

  it('about one order are signalled in the order of their arrival', async () => {
    const orderId = await acceptTestOrder(bench.database);
    const { reference } = await openTestAttempt(bench.database, orderId);
    await deliverTestEvent(bench.database, { outcome: 'processing', serviceId: 'so-4', reference });
    await report({ outcome: 'completed', serviceId: 'so-4', reference });
    expect(bench.temporal.signalled.map(({ observation }) => observation.outcome)).toEqual(['processing', 'completed']);
  });

  it('without a known attempt wait, and are signalled once their attempt is opened', async () => {
    const orderId = await acceptTestOrder(bench.database);
    await report({ outcome: 'completed', serviceId: 'so-5', reference: 'ref-5' });
    expect(bench.temporal.signalled).toEqual([]);
    expect(await bench.rows()).toMatchObject([{ state: 'unmatched' }]);
    await openTestAttempt(bench.database, orderId, { reference: 'ref-5' });
    await bench.drain();
    const observation = { outcome: 'completed', decision: 'advance' };
    expect(bench.temporal.signalled).toMatchObject([{ orderId, observation }]);
  });

  it('that are unreadable do not block other reports', async () => {
    const { orderId } = await bench.bought('so-6');
    await bench.bought('so-7');
    await deliverUnreadableEvent(bench.database, { outcome: 'completed', serviceId: 'so-7' });
    await report({ outcome: 'completed', serviceId: 'so-6' });
    expect(bench.temporal.signalled).toMatchObject([{ orderId }]);
    expect(await bench.rows()).toMatchObject([
      { state: 'pending', lastError: expect.stringContaining('ENCRYPTION_KEYS') },
      { state: 'relayed' },
    ]);
  });
});

describe('reports about ended work, and impossible reports', () => {
  it('open a case and wake no workflow when they report a failed order as bought', async () => {
    const orderId = await acceptTestOrder(bench.database);
    const { reference } = await openTestAttempt(bench.database, orderId);
    await endTestOrder(bench.database, orderId);
    await report({ outcome: 'completed', serviceId: 'so-8', reference });
    expect(bench.temporal.signalled).toEqual([]);
    expect(await bench.casesOf(orderId)).toMatchObject([{ reason: 'contradiction', closedAt: null }]);
    expect(await bench.rows()).toMatchObject([{ state: 'applied', decision: 'contradiction' }]);
    const doubts = and(eq(events.subjectId, orderId), eq(events.type, 'order.in_doubt'));
    const told = await bench.database.run((db) => db.select().from(events).where(doubts));
    expect(told).toMatchObject([{ data: { status: 'failed', attention_reason: 'contradiction' } }]);
  });

  it.each<[string, (ours: OrderAttempt, other: OrderAttempt) => Omit<TestEvent, 'outcome'>]>([
    ['name a second order for one attempt', ({ reference }) => ({ serviceId: 'so-second', reference })],
    ['have our reference and another package', (ours) => ({ ...namesOf(ours), data: { package_id: 1002 } })],
    ['have the order of one and the reference of another', (ours, { reference }) => ({ ...namesOf(ours), reference })],
  ])('open a case, signal nothing and change no attempt when they %s', async (_what, eventOf) => {
    const [ours, other] = [await bench.bought(randomUUID()), await bench.bought(randomUUID())];
    const both = async () => [await attemptOf(ours), await attemptOf(other)] as const;
    const before = await both();
    await report({ outcome: 'completed', ...eventOf(withReference(before[0]), other.attempt) });
    // The known order continues. An operator decides about the other one.
    expect(bench.temporal.signalled).toEqual([]);
    expect(await bench.casesOf(ours.orderId)).toMatchObject([{ reason: 'contradiction', closedAt: null }]);
    expect(await bench.rows()).toMatchObject([{ state: 'applied' }]);
    expect(await both()).toEqual(before);
  });

  it('open a case and keep the known price when they contain another price', async () => {
    const ours = await bench.bought('so-price', { amount: '2.40', currency: 'USD' });
    const data = { price_for_reseller: '0.10', currency: 'USD' };
    await report({ outcome: 'completed', serviceId: 'so-price', data });
    expect(bench.temporal.signalled).toMatchObject([{ observation: { decision: 'advance' } }]);
    expect(await bench.casesOf(ours.orderId)).toMatchObject([{ reason: 'contradiction', closedAt: null }]);
    expect(await attemptOf(ours)).toMatchObject({ state: 'completed', chargedAmount: '2.400000' });
  });

  it('open a case when they complete an attempt that a later attempt has replaced', async () => {
    const { orderId, attempt } = await bench.bought('so-10');
    await storeTestReport(bench.database, attempt.id, { outcome: 'failed', serviceId: 'so-10' });
    await openTestAttempt(bench.database, orderId, { number: 2 });
    await report({ outcome: 'completed', serviceId: 'so-10' });
    // The case is still open, so the workflow must stop buying.
    const observation = { attemptNumber: 1, decision: 'contradiction' };
    expect(bench.temporal.signalled).toMatchObject([{ orderId, observation }]);
    expect(await bench.casesOf(orderId)).toMatchObject([{ reason: 'contradiction', closedAt: null }]);
  });

  it('signal a contradiction to the workflow while the order is open', async () => {
    const { orderId, attempt } = await bench.bought('so-11');
    await storeTestReport(bench.database, attempt.id, { outcome: 'failed', serviceId: 'so-11' });
    await report({ outcome: 'completed', serviceId: 'so-11' });
    const observation = { outcome: 'completed', decision: 'contradiction' };
    expect(bench.temporal.signalled).toMatchObject([{ orderId, observation }]);
  });
});
