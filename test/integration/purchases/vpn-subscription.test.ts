import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { auditLog } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { frequentUpkeep, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP, UNSOLD_STAYS_HELD } from '#test/support/servers/test-policies.ts';
import { checkedDesk } from '#test/support/work/order-desk.ts';

const PLAN = { activeAtOnce: 301, processingThenActive: 391, staysProcessing: 394, unavailable: 396 } as const;

const stack = disposedAtEnd(
  await startStack({
    environment: { ...NORMAL_WAITS_POLICY, ...RARE_UPKEEP, ...UNSOLD_STAYS_HELD },
    simulator: { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' },
  }),
);
const desk = checkedDesk(stack);
const operator = disposedAtEnd(await TemporalOperator.connect(stack));

const cancel = (id: string) =>
  stack.api.post(`/v1/vpn/subscriptions/${id}/cancel`, { reason: 'The customer ended it.' });
const callsOf = async (endpoint: string) => (await desk.simulator.requests(endpoint)).length;
const active = async (plan: number = PLAN.activeAtOnce) =>
  desk.subscriptionReaches(await desk.subscribe(plan), 'active');

describe('a VPN subscription', () => {
  it('costs one debit, and protects its access data', async () => {
    // Without webhooks, only its answer reports the activation.
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const subscription = await active();
    expect(subscription.body).toMatchObject({
      status: 'active',
      operations: { attempts: 1 },
      has_access_data: true,
      charged: { amount: '2.90', currency: 'USD' },
      expires_at: expect.any(String),
    });
    const id = subscription.textAt('id');
    expect(await desk.inbox(id)).toEqual([]);
    expect(subscription.at('customer_reference')).toBe('C-2207');
    const timeline = await stack.api.get(`/v1/vpn/subscriptions/${id}/timeline`);
    expect(timeline.text).not.toContain('C-2207');
    const access = await stack.api.get(`/v1/vpn/subscriptions/${id}/access`);
    expect(access.body).toMatchObject({
      subscription_id: id,
      username: expect.stringMatching(/^vpn-/),
      password: expect.any(String),
    });
    const audited = await stack.database.run((db) => db.select().from(auditLog).where(eq(auditLog.subjectId, id)));
    expect(audited).toMatchObject([{ action: 'vpn.access_revealed', subjectKind: 'vpn_subscription' }]);
  });

  it('is renewed by an event with a later end, once, and told to its caller', async () => {
    const before = await active();
    const id = before.textAt('id');
    const [attempt] = await desk.attempts(id);
    const later = new Date(Date.parse(before.textAt('expires_at')) + 30 * 86_400_000).toISOString();
    const renew = (expiresAt: string) =>
      desk.simulator.sendWebhook({
        event: 'vpn.subscription.active',
        data: { id: attempt!.serviceId, status: 'active', expires_at: expiresAt },
      });
    await renew(later);
    await expect.poll(async () => (await desk.subscriptionReaches(id, 'active')).at('expires_at')).toBe(later);
    // An earlier end comes from an older event.
    await renew(before.textAt('expires_at'));
    await renew(later);
    await expect.poll(async () => (await desk.inbox(id)).filter(({ state }) => state === 'applied').length).toBe(4);
    const renewals = await stack.api.get(`/v1/events?subject_id=${id}&type=vpn_subscription.renewed`);
    expect(renewals.at('data')).toEqual([
      expect.objectContaining({
        data: {
          external_subscription_id: before.textAt('external_subscription_id'),
          expires_at: later,
          previous_expires_at: before.textAt('expires_at'),
        },
      }),
    ]);
    const renewed = await desk.subscriptionReaches(id, 'active');
    expect(renewed.body).toMatchObject({
      expires_at: later,
      current_period_start: before.textAt('expires_at'),
      current_period_end: later,
      periods: [
        { start: before.textAt('started_at'), end: before.textAt('expires_at'), charged: before.at('charged') },
        { start: before.textAt('expires_at'), end: later, charged: null },
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
    expect((await desk.subscriptionReaches(unavailable, 'held')).body).toMatchObject({
      failure: { class: 'package_unavailable' },
    });
    expect((await cancel(unavailable)).body).toMatchObject({ refusal: 'not_active' });
    expect(
      (await stack.api.post(`/v1/vpn/subscriptions/${unavailable}/abandon`, { reason: 'no longer wanted' })).status,
    ).toBe(200);
  });
});

describe('an active VPN subscription', () => {
  it('needs attention when the service reports it as failed', async () => {
    const subscription = await active();
    const id = subscription.textAt('id');
    const lived = { product: 'vpn-subscription', needsAttention: false, failureClass: undefined };
    expect(await operator.showsStage(id, 'active')).toMatchObject(lived);
    const failed = () =>
      desk.simulator.sendWebhook({
        event: 'vpn.subscription.failed',
        data: { id: subscription.textAt('service_subscription_id'), status: 'failed' },
      });
    await failed();
    const withCase = await desk.subscriptionReaches(id, 'needs_attention');
    expect(withCase.body).toMatchObject({
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
    const verdict = { reason: 'It works.', case: 'contradiction', verdict: 'dismissed' };
    expect((await stack.api.post(`/v1/vpn/subscriptions/${id}/resolve`, verdict)).status).toBe(200);
    const lives = await desk.subscriptionReaches(id, 'active');
    expect(lives.body).toMatchObject({ operations: { attention: null, resubmission: { verdict: 'not_needed' } } });
  });
});

describe('the end of a VPN subscription', () => {
  it('by its customer cancels it at the service once', async () => {
    const subscription = await active();
    const id = subscription.textAt('id');
    const before = await callsOf('cancelVpnSubscription');
    expect((await Promise.all([cancel(id), cancel(id), cancel(id)])).map(({ status }) => status)).toEqual([
      202, 202, 202,
    ]);
    const ended = await desk.subscriptionReaches(id, 'cancelled');
    expect(await callsOf('cancelVpnSubscription')).toBe(before + 1);
    expect((await cancel(id)).status).toBe(200);
    const end = { ended_at: expect.any(String), cancelled_at: expect.any(String) };
    expect(ended.body).toMatchObject({ ...end, current_period_end: subscription.textAt('expires_at') });
    const [told] = (await stack.api.get(`/v1/events?subject_id=${id}&type=vpn_subscription.cancelled`)).at('data') as [
      { data: unknown },
    ];
    expect(told.data).toMatchObject({ ...end, current_period_end: subscription.textAt('expires_at') });
    expect(await desk.events(id)).toEqual(
      expect.arrayContaining([
        'vpn_subscription.cancel_requested',
        'vpn_subscription.cancelling',
        'vpn_subscription.cancelled',
      ]),
    );
  });

  it('is reported by webhook when it takes time', async () => {
    const subscription = await active();
    const id = subscription.textAt('id');
    await desk.simulator.nextPurchases({
      operation: 'vpn_cancellation',
      outcome: 'processing_then_cancelled',
      delay_ms: 3_600_000,
    });
    await cancel(id);
    await desk.subscriptionReaches(id, 'cancelling');
    await desk.simulator.endSubscription(subscription.textAt('service_subscription_id'), 'cancel');
    await desk.subscriptionReaches(id, 'cancelled');
    expect((await desk.inbox(id)).map(({ event }) => event)).toContain('vpn.subscription.cancelled');
  });

  it('refused by the service needs attention, and an operator can let the subscription continue', async () => {
    const id = (await active()).textAt('id');
    const before = await callsOf('cancelVpnSubscription');
    await desk.simulator.nextPurchases({ operation: 'vpn_cancellation', outcome: 'refused', count: 2 });
    await cancel(id);
    const withCase = await desk.subscriptionReaches(id, 'needs_attention');
    expect(withCase.body).toMatchObject({ operations: { attention: { reason: 'cancellation_refused' } } });
    expect(await callsOf('cancelVpnSubscription')).toBe(before + 1);
    // A retry by the operator sends the request once more, and the service refuses again.
    expect((await stack.api.post(`/v1/vpn/subscriptions/${id}/retry`, { reason: 'ask again' })).status).toBe(200);
    await expect.poll(() => callsOf('cancelVpnSubscription')).toBe(before + 2);
    await desk.subscriptionReaches(id, 'needs_attention');
    const verdict = { reason: 'They owe us a month.', case: 'cancellation_refused', verdict: 'dismissed' };
    expect((await stack.api.post(`/v1/vpn/subscriptions/${id}/resolve`, verdict)).status).toBe(200);
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
