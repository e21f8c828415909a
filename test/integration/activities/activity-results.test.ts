import { eq, inArray } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { inbox, orders } from '#db/schema.ts';
import { recordReport } from '#fulfilment/attempts/report.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { sendsOf, step } from '#test/support/work/activities/steps.ts';
import { withReference } from '#test/support/work/order-desk.ts';
import { deliverTestEvent, orderWork } from '#test/support/work/order-rows.ts';
import { SEND_NOT_BEGUN } from '#workflows/messages.ts';

const bench = disposedAtEnd(await ActivityBench.start());
afterEach(() => bench.admin.calm());

describe('an activity', () => {
  it('sends nothing after the deadline of the order, however long the send waited for a worker', async () => {
    const late = await bench.begin();
    const unknown = await bench.begin();
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    await bench.activities.sendPurchase(unknown);
    const sends = (await bench.admin.requests('createOrder')).length;
    const deadlineAt = new Date(bench.clock.now);
    const both = inArray(orders.id, [late.work.id, unknown.work.id]);
    await bench.database.run((db) => db.update(orders).set({ deadlineAt }).where(both));
    const { outcome } = await bench.activities.sendPurchase(late);
    expect(outcome).toEqual({ kind: 'failure', failure: 'deadline_passed' });
    expect((await bench.admin.requests('createOrder')).length).toBe(sends);
    // It may have bought: the same bytes are sent again, which buys nothing more.
    const resent = await bench.activities.sendPurchase({ ...unknown, resendWindowMs: 600_000 });
    expect(resent.outcome).toMatchObject({ kind: 'accepted' });
  });

  it.each([
    ['sends after the deadline of the caller when an operator has set a later one', 0, 1, { kind: 'accepted' }],
    ['sends nothing after the deadline of an operator', 1, 0, { kind: 'failure', failure: 'deadline_passed' }],
  ])('%s', async (_what, hoursOfCaller, hoursOfOperator, outcome) => {
    const ref = await bench.begin();
    const deadlineAt = new Date(bench.clock.now + hoursOfCaller * 3_600_000);
    const retryOverrides = { deadlineAt: bench.clock.now + hoursOfOperator * 3_600_000 };
    const isIt = eq(orders.id, ref.work.id);
    await bench.database.run((db) => db.update(orders).set({ deadlineAt, retryOverrides }).where(isIt));
    expect((await bench.activities.sendPurchase(ref)).outcome).toMatchObject(outcome);
  });

  it('of a worker that has lost its workflow task does not change what a later task recorded', async () => {
    const { work } = await bench.begin();
    const held = step(work, { stepKey: 'a:1', task: { runId: 'a', historyLength: 26, at: 1_000 } });
    const attention = { reason: 'evidence_unavailable', detail: 'The wallet cannot be read.' } as const;
    const task = { runId: 'a', historyLength: 29, at: 900 };
    const later = step(work, { stepKey: 'a:2', status: 'needs_attention', attention, task });
    expect(await bench.activities.recordStep(later)).toBe('recorded');
    const before = await bench.row({ work });
    expect(await bench.activities.recordStep(held)).toBe('superseded');
    expect(await bench.row({ work })).toEqual(before);
    // The run that follows takes over with its first read; a step of the earlier run has no effect from then on.
    const next = step(work, { ...later, stepKey: 'b:1', task: { runId: 'b', historyLength: 4, at: 800 } });
    expect(await bench.activities.recordStep(next)).toBe('superseded');
    await bench.activities.beginWork({ work, run: 'b' });
    expect(await bench.activities.recordStep(next)).toBe('recorded');
    expect(await bench.activities.recordStep(later)).toBe('superseded');
  });

  it('of a worker that has lost its workflow task sends nothing and shows nothing over a newer step', async () => {
    const ids = await bench.begin();
    const held = step(ids.work, { stepKey: 'a:1', task: { runId: 'a', historyLength: 29, at: 900 } });
    await bench.activities.recordStep(held);
    const before = await bench.rows();
    const late = bench.activities.sendPurchase({ ...ids, task: { runId: 'a', historyLength: 26, at: 1_000 } });
    await expect(late).rejects.toMatchObject({ type: SEND_NOT_BEGUN });
    expect(await bench.rows()).toEqual(before);
    expect(await sendsOf(bench, ids.work.id)).toEqual([]);
    const next = await bench.activities.sendPurchase({ ...ids, task: { runId: 'a', historyLength: 29, at: 900 } });
    expect(next.outcome).toMatchObject({ kind: 'accepted' });
  });

  it('of an abandoned run does not reopen an order that has ended meanwhile', async () => {
    await bench.admin.onRequest('createOrder', { kind: 'latency', ms: 500, at: 'answer' });
    const ids = await bench.begin();
    const sending = bench.activities.sendPurchase(ids);
    const { reference } = withReference(await bench.attempt(ids));
    const sold = await waitFor('the service has bought', async () => (await bench.admin.orders(reference))[0]);
    const report = { outcome: 'completed', serviceId: sold.id } as const;
    const at = new Date(bench.clock.now);
    await bench.database.transaction((tx) => recordReport(tx, ids.attemptId, report, at));
    await bench.activities.completePurchase({ ...ids, applied: [] });
    await sending;
    expect((await bench.row(ids)).status).toBe('completed');
  });

  it('requeues an unmatched report when its purchase was stored concurrently', async () => {
    const ids = await bench.begin();
    const { reference } = withReference(await bench.attempt(ids));
    await deliverTestEvent(bench.database, { outcome: 'processing', serviceId: 'so-overtaken', reference });
    const word = eq(inbox.reference, reference);
    await bench.database.run((db) => db.update(inbox).set({ state: 'unmatched' }).where(word));
    await bench.activities.requestIdleWork();
    expect(await bench.database.run((db) => db.select().from(inbox).where(word))).toMatchObject([{ state: 'pending' }]);
  });

  it('returns the reason and the retry time of an unreadable eSIM', async () => {
    const ids = await bench.begin();
    await bench.activities.sendPurchase(ids);
    await bench.admin.onRequest('getEsim', { kind: 'rate_limited', retry_after: 3_600 });
    expect(await bench.activities.completePurchase({ ...ids, applied: [] })).toMatchObject({
      kind: 'not_yet',
      reason: 'rate_limited',
      retryAfterMs: 3_600_000,
    });
  });

  it('holds a subscription whose customer pays in another currency than the price, and sends nothing', async () => {
    const ref = await bench.beginSubscription(301, { amount: '29.99', currency: 'EUR' });
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({
      outcome: { failure: 'margin_too_low' },
      detail: 'The price is in USD, and what the customer pays in EUR.',
    });
    const attempt = await bench.attempt(ref);
    expect(await bench.admin.requests('createVpnOrder', attempt.idempotencyKey)).toEqual([]);
  });

  it('reports an order missing in this database as a non-retryable failure', async () => {
    const begun = bench.activities.beginWork({ work: orderWork('ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD') });
    await expect(begun).rejects.toMatchObject({ type: 'WorkMissingError', nonRetryable: true });
  });
});
