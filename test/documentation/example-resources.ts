import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Clerk } from '#test/documentation/clerk.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

/** Ids by the `x-kind` of the parameter that takes them; and by the operation where that has none. */
export type Ids = Readonly<Record<string, string>>;

const list = z.object({ data: z.array(z.looseObject({ id: z.string() })) });
/** At the simulator. */
export const VPN_PLAN = 301;
const WHY = 'The customer no longer wants it.';
const CHEAP = { amount: '0.01', currency: 'USD' };
const ENOUGH = { amount: '15.00', currency: 'USD' };

/** What a stack needs for {@link oneOfEach}: nothing is too young to be compared, and held work stays held. */
export const FOR_ONE_OF_EACH = {
  environment: {
    POLICY_BOOKS_GRACE: '0s',
    POLICY_BOOKS_EVERY: '2s',
    POLICY_HOLD_DELAY: '1h',
    POLICY_MAX_ATTEMPTS: '1',
  },
  simulator: { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_SEED: 'documentation' },
} as const;

/**
 * Carries work of every kind through a running product, each to another place of its way, so that every read has
 * something to show and every act something to act upon. What cannot be brought about cheaply is left out.
 */
export async function oneOfEach(stack: Stack, clerk: Clerk): Promise<Ids> {
  const desk = new OrderDesk(stack);
  const simulator = desk.simulator;
  const reaches = (path: string, ...statuses: string[]) => stack.workReaches(path, statuses);

  // An order, from the request to what the customer gets.
  const order = await clerk.call('createOrder', {
    body: {
      package_id: 2001,
      external_order_id: 'shop-2030-000123',
      max_price: ENOUGH,
      metadata: { shop_order: 'A-1001' },
    },
  });
  const orderId = order.textAt('id');
  const esimId = (await reaches(`/v1/orders/${orderId}`, 'completed')).textAt('esim_id');
  await clerk.call('getOrder', { params: { id: orderId } });
  await refusals(clerk, orderId);
  await clerk.call('listOrders', { query: { external_order_id: 'shop-2030-000123' } });

  // A top-up of an eSIM that takes one, and a cancellation of another.
  const recharged = await desk.newEsim();
  const topup = await clerk.call('createTopup', {
    body: { esim_id: recharged, package_id: 1002, external_topup_id: 'shop-topup-000017' },
  });
  const topupId = topup.textAt('id');
  await reaches(`/v1/topups/${topupId}`, 'completed');
  await clerk.call('listTopupOptions', { params: { id: recharged } });
  const unwanted = await desk.newEsim();
  await clerk.call('getCancellationPreflight', { params: { id: unwanted } });
  const cancellation = await clerk.call('createCancellation', {
    body: { esim_id: unwanted, reason: 'The customer travels later.' },
  });
  const cancellationId = cancellation.textAt('id');
  await reaches(`/v1/cancellations/${cancellationId}`, 'completed');
  const [refund] = (await clerk.call('listRefunds')).read(list).data;

  // A VPN subscription that goes on, and one that its customer ends.
  const subscribe = async (reference: string) => {
    const body = {
      vpn_plan_id: VPN_PLAN,
      external_subscription_id: reference,
      customer_reference: 'C-2207',
      customer_price: '5.99',
    };
    const id = (await clerk.call('createVpnSubscription', { body })).textAt('id');
    await reaches(`/v1/vpn/subscriptions/${id}`, 'active');
    return id;
  };
  const vpnId = await subscribe('shop-vpn-000042');
  await clerk.call('cancelVpnSubscription', {
    params: { id: await subscribe('shop-vpn-000043') },
    body: { reason: WHY },
  });

  await operate(stack, clerk, desk);

  // The same delivery id with two bodies: a case that a person closes.
  const deliveryId = randomUUID();
  for (const status of ['processing', 'failed'])
    await clerk.deliver(deliveryId, `order.${status}`, { id: 'so_CONFLICT', status });
  const [conflict] = (await clerk.call('listCases', { query: { reason: 'webhook_conflict' } })).read(list).data;
  await clerk.call('dismissCase', { params: { id: conflict?.id ?? '' }, body: { reason: 'A test of theirs.' } });
  const second = randomUUID();
  for (const status of ['processing', 'failed'])
    await clerk.deliver(second, `order.${status}`, { id: 'so_CONFLICT', status });
  const [openCase] = (await clerk.call('listCases', { query: { reason: 'webhook_conflict' }, note: false })).read(
    list,
  ).data;

  // Deliveries of a kind that nobody knows: kept, shown, and tried again or put aside.
  for (const id of ['so_UNKNOWN_1', 'so_UNKNOWN_2']) await clerk.deliver(randomUUID(), 'order.refurbished', { id });
  const letters = (await clerk.call('listDeadLetters')).read(list).data;
  await clerk.call('dismissDeadLetter', {
    params: { id: letters[0]?.id ?? '' },
    body: { reason: 'The service has announced that it sends this kind now.' },
  });
  await clerk.call('requeueDeadLetter', {
    params: { id: letters[1]?.id ?? '' },
    body: { reason: 'This version knows the kind.' },
  });

  const pause = await clerk.call('pauseBuying', {
    body: { kind: 'topup', failure_class: 'rate_limited', reason: 'The service asked for it.' },
  });
  const pauseId = pause.textAt('id');
  await clerk.call('getPurchaseGate');
  await clerk.call('releasePause', { params: { id: pauseId }, body: { reason: 'They are done.' } });

  // A movement that is nobody's, explained.
  await simulator.move({ type: 'debit', amount: '7.10', reason: 'fee' });
  await simulator.move({ type: 'debit', amount: '1.00', reason: 'fee' });
  const unexplained = await waitFor('the comparison of the books finds the movements', async () => {
    const { data } = (await clerk.call('listWalletTransactions', { query: { cause: 'none' }, note: false })).read(list);
    if (data.length < 2) throw new Error(`there are ${data.length}`);
    return data;
  });
  await clerk.call('explainWalletTransaction', {
    params: { id: unexplained[0]?.id ?? '' },
    body: { reason: 'The fee of the month.' },
  });
  const [reconciliation] = (await clerk.call('listReconciliations', { query: { limit: '1' } })).read(list).data;

  const ruleId = await price(clerk);
  const endpointId = await listen(clerk);
  const event = await waitFor('an event is published', async () => {
    const [first] = (await clerk.call('listEvents', { query: { type: 'order.*', limit: '2' }, note: false })).read(
      list,
    ).data;
    return first ?? Promise.reject(new Error('there is none'));
  });

  await clerk.call('rotateServiceWebhookSecret', { body: { overlap_seconds: 3600 } });
  return {
    order: orderId,
    esim: esimId,
    topup: topupId,
    cancellation: cancellationId,
    refund: refund?.id ?? '',
    vpn_subscription: vpnId,
    case: openCase?.id ?? '',
    pause: pauseId,
    reconciliation: reconciliation?.id ?? '',
    pricingRule: ruleId,
    webhookEndpoint: endpointId,
    event: event.id,
    getPackage: '1001',
    explainWalletTransaction: unexplained[1]?.id ?? '',
    getDocsFile: 'swagger-ui.css',
    getProblem: 'validation-failed',
  };
}

/** Rules that suggest prices: one that stays, one that ends. @returns the id of the first. */
async function price(clerk: Clerk): Promise<string> {
  const terms = { margin: { percent: '25' }, rounding: { step: '1', ending: '0.99', direction: 'up' } };
  const reason = 'Prices of the spring.';
  const rule = await clerk.call('createPricingRule', {
    body: { target: { kind: 'country', country: 'ES' }, currency: 'USD', terms, reason },
  });
  const params = { id: rule.textAt('id') };
  await clerk.call('changePricingRule', {
    params,
    body: { terms: { ...terms, minimum_price: '4.99' }, reason: 'Nothing below five.', version: 1 },
  });
  await clerk.call('tryPricing', {
    body: {
      package_ids: [1001],
      rules: [{ target: { kind: 'default' }, currency: 'USD', terms: { ...terms, margin: { percent: '40' } } }],
    },
  });
  const other = await clerk.call('createPricingRule', {
    body: { target: { kind: 'default' }, currency: 'USD', terms, reason },
    note: false,
  });
  await clerk.call('endPricingRule', {
    params: { id: other.textAt('id') },
    body: { reason: 'It was a trial.', version: 1 },
  });
  return params.id;
}

/** Webhook endpoints: one that stays, one that is removed. @returns the id of the first. */
async function listen(clerk: Clerk): Promise<string> {
  const make = (note: boolean) =>
    clerk.call('createWebhookEndpoint', {
      body: { url: 'http://127.0.0.1:65535/webhooks', event_types: ['order.*'], description: 'The shop.' },
      note,
    });
  const params = { id: (await make(true)).textAt('id') };
  await clerk.call('updateWebhookEndpoint', { params, body: { event_types: ['order.completed', 'order.failed'] } });
  await clerk.call('testWebhookEndpoint', { params });
  await clerk.call('replayWebhooks', { params, body: { since: new Date(Date.now() - 3_600_000).toISOString() } });
  await clerk.call('rotateWebhookEndpointSecret', { params, body: { overlap_seconds: 3600 } });
  await clerk.call('disableWebhookEndpoint', { params });
  await clerk.call('enableWebhookEndpoint', { params, body: { replay_missed: true } });
  const removed = { id: (await make(false)).textAt('id') };
  await clerk.call('deleteWebhookEndpoint', { params: removed });
  return params.id;
}

/** Requests that are refused, each in a way of its own. */
async function refusals(clerk: Clerk, orderId: string): Promise<void> {
  const headers = { 'Idempotency-Key': randomUUID() };
  const body = { package_id: 2001, external_order_id: 'shop-2030-000124', max_price: CHEAP };
  await clerk.call('createOrder', { headers, body, note: false });
  await clerk.call('createOrder', { headers, body: { ...body, package_id: 2002 } }, 422);
  await clerk.call('createOrder', { body: { package_id: 2001, external_order_id: 'shop-2030-000123' } }, 409);
  await clerk.call('createOrder', { body: { ...body, external_order_id: 'shop-2030-000125', device_imei: '12' } }, 400);
  await clerk.call(
    'createOrder',
    { headers: { 'Idempotency-Key': '' }, body: { ...body, external_order_id: 'shop-2030-000126' } },
    400,
  );
  await clerk.call('getOrder', { params: { id: 'ord_01JQ8Z00000000000000000000' } }, 404);
  await clerk.call('retryOrder', { params: { id: orderId }, body: { reason: WHY } }, 409);
  await clerk.call('listOrders', { headers: { Authorization: 'Bearer nobody' } }, 401);
  await clerk.call('getPackage', { params: { id: '424242' } }, 404);
}

/** Everything that a person can do with work that waits. */
async function operate(stack: Stack, clerk: Clerk, desk: OrderDesk): Promise<void> {
  const rechargeable = await desk.newEsim();
  const kinds = [
    { name: 'Order', path: '/v1/orders', make: (more: object) => desk.place(PACKAGE.completedAtOnce, { ...more }) },
    { name: 'Topup', path: '/v1/topups', make: (more: object) => desk.topUp(rechargeable, 1002, { ...more }) },
    {
      name: 'VpnSubscription',
      path: '/v1/vpn/subscriptions',
      make: (more: object) => desk.subscribe(VPN_PLAN, { ...more }),
    },
  ];
  for (const { name, path, make } of kinds) {
    const id = await make({ max_price: CHEAP });
    const params = { id };
    await stack.workReaches(`${path}/${id}`, ['held']);
    // Each is refused for the moment in which the gate looks at the work once more.
    const act = (operation: string, body: Record<string, unknown>) =>
      waitFor(`${operation} of ${id} is possible`, () => clerk.call(operation, { params, body }));
    await act(`retry${name}`, { reason: 'The price was corrected.' });
    await act(`release${name}`, { reason: 'It is urgent.' });
    await act(`change${name}Limit`, { reason: 'The shop pays more.', max_price: { amount: '0.02', currency: 'USD' } });
    await act(`change${name}RetryPolicy`, {
      reason: 'The supplier is back in an hour.',
      attempts: 5,
      first_wait_seconds: 900,
    });
    await clerk.call(`actOnMany${name}s`, {
      body: { action: 'abandon', filter: { status: 'held' }, reason: WHY, dry_run: true },
    });
    await act(`abandon${name}`, { reason: WHY });
    await stack.workReaches(`${path}/${id}`, ['abandoned']);
  }

  // Paid for and not delivered: only a person can tell.
  for (const { name, path, make } of kinds.slice(0, 2)) {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    const parked = await make({});
    await stack.workReaches(`${path}/${parked}`, ['needs_attention']);
    await clerk.call(`resolve${name}Case`, {
      params: { id: parked },
      body: {
        reason: 'They confirmed it by mail.',
        case: 'failed_but_charged',
        verdict: 'not_bought',
        next: 'abandon',
      },
    });
  }
  const subscription = await desk.subscribe(VPN_PLAN);
  await desk.subscriptionReaches(subscription, 'active');
  await desk.simulator.nextPurchases({ operation: 'vpn_cancellation', outcome: 'refused' });
  await clerk.call('cancelVpnSubscription', { params: { id: subscription }, body: { reason: WHY }, note: false });
  await desk.subscriptionReaches(subscription, 'needs_attention');
  await clerk.call('resolveVpnSubscriptionCase', {
    params: { id: subscription },
    body: { reason: 'They owe us a month.', case: 'cancellation_refused', verdict: 'dismissed' },
  });

  const cancelled = async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'refund_failed' });
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'needs_attention');
    return { id };
  };
  const refused = { reason: 'It was written off.', case: 'refund_failed', verdict: 'dismissed' };
  await clerk.call('resolveCancellationCase', { params: await cancelled(), body: refused });
  await clerk.call('actOnManyCancellations', {
    body: { action: 'retry', filter: { status: 'needs_attention' }, reason: WHY, dry_run: true },
  });
  const unpaid = await cancelled();
  await clerk.call('changeCancellationRetryPolicy', {
    params: unpaid,
    body: { reason: 'They take until the evening.', longest_wait_seconds: 3_600 },
  });
  await clerk.call('retryCancellation', { params: unpaid, body: { reason: 'They are able to pay again.' } });
}
