import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { auditLog } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { frequentUpkeep, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP, UNSOLD_STAYS_HELD } from '#test/support/servers/test-policies.ts';
import { checkedDesk } from '#test/support/work/order-desk.ts';

const PLAN = { activeAtOnce: 301, processingThenActive: 391, staysProcessing: 394, unavailable: 396 } as const;

const environment = { ...NORMAL_WAITS_POLICY, ...RARE_UPKEEP, ...UNSOLD_STAYS_HELD };
const simulator = { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' };
const stack = disposedAtEnd(await startStack({ environment, simulator }));
const desk = checkedDesk(stack);
const operator = disposedAtEnd(await TemporalOperator.connect(stack));

const cancel = (id: string) =>
  stack.api.post(`/v1/vpn/subscriptions/${id}/cancel`, { reason: 'The customer ended it.' });
const cancelCalls = async () => (await desk.simulator.requests('cancelVpnSubscription')).length;
/** Acts as an operator, which must succeed. */
async function act(id: string, action: string, body: Record<string, unknown>): Promise<void> {
  expect((await stack.api.post(`/v1/vpn/subscriptions/${id}/${action}`, body)).status).toBe(200);
}
const active = async (plan: number = PLAN.activeAtOnce) =>
  desk.subscriptionReaches(await desk.subscribe(plan), 'active');

describe('a VPN subscription', () => {
  it('costs one debit, and protects its access data', async () => {
    // Without webhooks, only its answer reports the activation.
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const subscription = await active();
    const bought = { operations: { attempts: 1 }, charged: { amount: '2.90', currency: 'USD' } };
    const delivered = { status: 'active', has_access_data: true, expires_at: expect.any(String) };
    expect(subscription.body).toMatchObject({ ...bought, ...delivered });
    const id = subscription.textAt('id');
    expect(await desk.inbox(id)).toEqual([]);
    expect(subscription.at('customer_reference')).toBe('C-2207');
    expect((await stack.api.get(`/v1/vpn/subscriptions/${id}/timeline`)).text).not.toContain('C-2207');
    const access = { subscription_id: id, username: expect.stringMatching(/^vpn-/), password: expect.any(String) };
    expect((await stack.api.get(`/v1/vpn/subscriptions/${id}/access`)).body).toMatchObject(access);
    const audited = await stack.database.run((db) => db.select().from(auditLog).where(eq(auditLog.subjectId, id)));
    expect(audited).toMatchObject([{ action: 'vpn.access_revealed', subjectKind: 'vpn_subscription' }]);
  });

  it('is renewed by an event with a later end, once, and told to its caller', async () => {
    const before = await active();
    const id = before.textAt('id');
    const [attempt] = await desk.attempts(id);
    const end = before.textAt('expires_at');
    const later = new Date(Date.parse(end) + 30 * 86_400_000).toISOString();
    const renew = (expiresAt: string) => {
      const price = { price_for_reseller: '9.99', currency: 'USD' };
      const data = { id: attempt!.serviceId, status: 'active', expires_at: expiresAt, ...price };
      return desk.simulator.sendWebhook({ event: 'vpn.subscription.active', data });
    };
    await renew(later);
    await expect.poll(async () => (await desk.subscriptionReaches(id, 'active')).at('expires_at')).toBe(later);
    // An earlier end comes from an older event.
    await renew(end);
    // The same end in another form, as in an answer without fractions of a second.
    const exact = new Date(Date.parse(later) + 412).toISOString();
    await renew(exact);
    await renew(later);
    await expect.poll(async () => (await desk.inbox(id)).filter(({ state }) => state === 'applied').length).toBe(5);
    // Its price has risen since.
    expect(await desk.cases(id)).toEqual([]);
    const external_subscription_id = before.textAt('external_subscription_id');
    const data = { external_subscription_id, expires_at: later, previous_expires_at: end };
    const renewals = await stack.api.get(`/v1/events?subject_id=${id}&type=vpn_subscription.renewed`);
    expect(renewals.at('data')).toEqual([expect.objectContaining({ data })]);
    const renewed = await desk.subscriptionReaches(id, 'active');
    expect(renewed.body).toMatchObject({
      expires_at: later,
      current_period_start: end,
      current_period_end: later,
      periods: [
        { start: before.textAt('started_at'), end, charged: before.at('charged') },
        { start: end, end: later, charged: null },
      ],
      ended_at: null,
      cancelled_at: null,
    });
    const list = await stack.api.get(`/v1/vpn/subscriptions?id=${id}`);
    expect(list.at('data', 0, 'periods')).toEqual(renewed.at('periods'));
  });

  it('becomes active by its webhook or a look-up', async () => {
    await frequentUpkeep(stack);
    const sourcesOf = async (id: string) => (await desk.inbox(id)).map(({ source }) => source);
    const byWebhook = await active(PLAN.processingThenActive);
    expect(await sourcesOf(byWebhook.textAt('id'))).toContain('webhook');
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const byLookUp = await active(PLAN.processingThenActive);
    expect(await sourcesOf(byLookUp.textAt('id'))).toEqual(['read']);
  });

  it('gets a new attempt after its failure and credit', async () => {
    await desk.simulator.nextPurchases({ operation: 'vpn', outcome: 'processing_then_failed', delay_ms: 200 });
    expect((await active()).body).toMatchObject({ operations: { attempts: 2 } });
  });

  it('is held without a margin, and while the plan is not sold', async () => {
    const id = await desk.subscribe(302, { customer_price: { amount: '7.42', currency: 'USD' } });
    expect((await desk.subscriptionReaches(id, 'held')).body).toMatchObject({ failure: { class: 'margin_too_low' } });
    await desk.simulator.setPlan(302, { price_for_reseller: '7.42' });
    await desk.subscriptionReaches(id, 'active');
    const unavailable = await desk.subscribe(PLAN.unavailable);
    const unsold = await desk.subscriptionReaches(unavailable, 'held');
    expect(unsold.at('failure', 'class')).toBe('package_unavailable');
    expect((await cancel(unavailable)).body).toMatchObject({ refusal: 'not_active' });
    await act(unavailable, 'abandon', { reason: 'no longer wanted' });
  });
});

describe('an active VPN subscription', () => {
  it('needs attention when the service reports it as failed', async () => {
    const subscription = await active();
    const id = subscription.textAt('id');
    const lived = { product: 'vpn-subscription', needsAttention: false, failureClass: undefined };
    expect(await operator.showsStage(id, 'active')).toMatchObject(lived);
    const data = { id: subscription.textAt('service_subscription_id'), status: 'failed' };
    const failed = () => desk.simulator.sendWebhook({ event: 'vpn.subscription.failed', data });
    await failed();
    expect((await desk.subscriptionReaches(id, 'needs_attention')).body).toMatchObject({
      operations: { attention: { reason: 'contradiction' }, resubmission: { verdict: 'no' } },
    });
    // Further reports are recorded while the case is open.
    await failed();
    const reports = async () =>
      (await desk.inbox(id)).filter(({ event }) => event === 'vpn.subscription.failed').map(({ state }) => state);
    await expect.poll(reports).toEqual(['applied', 'applied']);
    expect(await operator.showsStage(id, 'needs_attention')).toMatchObject({
      needsAttention: true,
      attentionReason: 'contradiction',
      details: expect.stringMatching(/^### ⚠ needs_attention/),
    });
    await act(id, 'resolve', { reason: 'It works.', case: 'contradiction', verdict: 'dismissed' });
    const lives = await desk.subscriptionReaches(id, 'active');
    expect(lives.body).toMatchObject({ operations: { attention: null, resubmission: { verdict: 'not_needed' } } });
  });
});

describe('the end of a VPN subscription', () => {
  it('by its customer cancels it at the service once', async () => {
    const subscription = await active();
    const id = subscription.textAt('id');
    const before = await cancelCalls();
    const answers = await Promise.all([cancel(id), cancel(id), cancel(id)]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    const ended = await desk.subscriptionReaches(id, 'cancelled');
    expect(await cancelCalls()).toBe(before + 1);
    expect((await cancel(id)).status).toBe(200);
    const end = { ended_at: expect.any(String), cancelled_at: expect.any(String) };
    expect(ended.body).toMatchObject({ ...end, current_period_end: subscription.textAt('expires_at') });
    const told = await stack.api.get(`/v1/events?subject_id=${id}&type=vpn_subscription.cancelled`);
    expect(told.at('data', 0, 'data')).toMatchObject({ ...end, current_period_end: subscription.textAt('expires_at') });
    const events = ['cancel_requested', 'cancelling', 'cancelled'].map((event) => `vpn_subscription.${event}`);
    expect(await desk.events(id)).toEqual(expect.arrayContaining(events));
  });

  it('is reported by webhook when it takes time', async () => {
    const subscription = await active();
    const id = subscription.textAt('id');
    const slowly = { outcome: 'processing_then_cancelled', delay_ms: 3_600_000 } as const;
    await desk.simulator.nextPurchases({ operation: 'vpn_cancellation', ...slowly });
    await cancel(id);
    await desk.subscriptionReaches(id, 'cancelling');
    await desk.simulator.endSubscription(subscription.textAt('service_subscription_id'), 'cancel');
    await desk.subscriptionReaches(id, 'cancelled');
    expect((await desk.inbox(id)).map(({ event }) => event)).toContain('vpn.subscription.cancelled');
  });

  it('refused by the service needs attention, and an operator can let the subscription continue', async () => {
    const id = (await active()).textAt('id');
    const before = await cancelCalls();
    await desk.simulator.nextPurchases({ operation: 'vpn_cancellation', outcome: 'refused', count: 2 });
    await cancel(id);
    const withCase = await desk.subscriptionReaches(id, 'needs_attention');
    expect(withCase.body).toMatchObject({ operations: { attention: { reason: 'cancellation_refused' } } });
    expect(await cancelCalls()).toBe(before + 1);
    // A retry by the operator sends the request once more, and the service refuses again.
    await act(id, 'retry', { reason: 'ask again' });
    await expect.poll(cancelCalls).toBe(before + 2);
    await desk.subscriptionReaches(id, 'needs_attention');
    await act(id, 'resolve', { reason: 'They owe us a month.', case: 'cancellation_refused', verdict: 'dismissed' });
    expect((await desk.subscriptionReaches(id, 'active')).at('cancel_requested_at')).toBeNull();
    await cancel(id);
    await desk.subscriptionReaches(id, 'cancelled');
  });

  it.each(['expire', 'cancel'] as const)('by the service (%s) is reported by its webhook', async (end) => {
    const subscription = await active();
    await desk.simulator.endSubscription(subscription.textAt('service_subscription_id'), end);
    const ended = await desk.subscriptionReaches(subscription.textAt('id'), end === 'expire' ? 'expired' : 'cancelled');
    expect((await cancel(ended.textAt('id'))).status).toBe(end === 'expire' ? 409 : 200);
  });
});
