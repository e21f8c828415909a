import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { DescribedClient } from '#test/documentation/described-client.ts';
import { VPN_PLAN, WHY, CHEAP, ENOUGH } from '#test/documentation/example-values.ts';
import { operate } from '#test/documentation/operator-examples.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';

/** Ids by the `x-kind` of their parameter, or by their operation if the parameter has none. */
export type Ids = Readonly<Record<string, string>>;

const list = z.object({ data: z.array(z.looseObject({ id: z.string() })) });

/** Options of a stack for {@link createExamples}: the books are compared at once, and held work stays held. */
export const EXAMPLES_STACK = {
  environment: {
    'books.grace': '0s',
    'books.every': '2s',
    'retry.hold_delay': '1h',
    'retry.max_attempts': 1,
  },
  simulator: { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_SEED: 'documentation' },
} as const;

/**
 * Creates work of every kind in different states, so that every call of the description can be recorded. States that
 * take long are left out.
 */
export async function createExamples(stack: Stack, client: DescribedClient): Promise<Ids> {
  const desk = new OrderDesk(stack);
  const simulator = desk.simulator;
  const reaches = (path: string, ...statuses: string[]) => stack.workReaches(path, statuses);

  await client.call('createQuote', { body: { package_id: 2001, max_price: ENOUGH } });

  // An order, from the request to the delivery.
  const order = await client.call('createOrder', {
    body: {
      package_id: 2001,
      external_order_id: 'shop-2030-000123',
      max_price: ENOUGH,
      customer_reference: 'C-2207',
      metadata: { shop_order: 'A-1001' },
    },
  });
  const orderId = order.textAt('id');
  const esimId = (await reaches(`/v1/orders/${orderId}`, 'completed')).textAt('esim_id');
  await client.call('getOrder', { params: { id: orderId } });
  await refusals(client, orderId);
  await client.call('listOrders', { query: { external_order_id: 'shop-2030-000123' } });

  await client.call('updateEsim', { params: { id: esimId }, body: { customer_reference: 'C-2207' } });

  // Two share links; one is revoked.
  const share = (body: object, isExample = true) =>
    client.call('createShareLink', { params: { id: esimId }, body, isExample });
  const shareLink = await share({ expires_in_seconds: 604_800, language: 'de', label: 'Japan, 1 GB' });
  const secret = shareLink.textAt('path').slice('/e/'.length);
  await client.call('getSharePage', { params: { secret } });
  const revoked = (await share({}, false)).textAt('id');
  await client.call('revokeShareLink', { params: { id: revoked } });
  const batchId = await orderBatches(client);

  // A top-up of one eSIM, and a cancellation of another.
  const recharged = await desk.newEsim();
  const topup = await client.call('createTopup', {
    body: { esim_id: recharged, package_id: 1002, external_topup_id: 'shop-topup-000017' },
  });
  const topupId = topup.textAt('id');
  await reaches(`/v1/topups/${topupId}`, 'completed');
  await client.call('listTopupOptions', { params: { id: recharged } });
  await client.call('simulateEsim', { params: { id: recharged }, body: { state: 'installed' } });
  const unwanted = await desk.newEsim();
  await client.call('getCancellationPreflight', { params: { id: unwanted } });
  const cancellation = await client.call('cancelEsim', {
    params: { id: unwanted },
    body: { reason: 'The customer travels later.' },
  });
  const cancellationId = cancellation.textAt('id');
  await reaches(`/v1/cancellations/${cancellationId}`, 'completed');
  const [refund] = (await client.call('listRefunds')).read(list).data;

  // A VPN subscription that continues, and one that its customer cancels.
  const subscribe = async (reference: string) => {
    const body = {
      vpn_plan_id: VPN_PLAN,
      external_subscription_id: reference,
      customer_reference: 'C-2207',
      customer_price: { amount: '5.99', currency: 'USD' },
    };
    const id = (await client.call('createVpnSubscription', { body })).textAt('id');
    await reaches(`/v1/vpn/subscriptions/${id}`, 'active');
    return id;
  };
  const vpnId = await subscribe('shop-vpn-000042');
  await client.call('cancelVpnSubscription', {
    params: { id: await subscribe('shop-vpn-000043') },
    body: { reason: WHY },
  });

  await operate(stack, client, desk);

  // Two bodies with the same delivery id: a case that an operator closes.
  const deliveryId = randomUUID();
  for (const status of ['processing', 'failed'])
    await client.deliver(deliveryId, `order.${status}`, { id: 'so_CONFLICT', status });
  const [conflict] = (await client.call('listCases', { query: { reason: 'webhook_conflict' } })).read(list).data;
  await client.call('dismissCase', { params: { id: conflict?.id ?? '' }, body: { reason: 'A test of theirs.' } });
  const second = randomUUID();
  for (const status of ['processing', 'failed'])
    await client.deliver(second, `order.${status}`, { id: 'so_CONFLICT', status });
  const [openCase] = (await client.call('listCases', { query: { reason: 'webhook_conflict' }, isExample: false })).read(
    list,
  ).data;

  // Deliveries of an unknown event: dead letters, one dismissed and one requeued.
  for (const id of ['so_UNKNOWN_1', 'so_UNKNOWN_2']) await client.deliver(randomUUID(), 'order.refurbished', { id });
  const letters = (await client.call('listDeadLetters')).read(list).data;
  await client.call('dismissDeadLetter', {
    params: { id: letters[0]?.id ?? '' },
    body: { reason: 'The service has announced that it sends this kind now.' },
  });
  await client.call('requeueDeadLetter', {
    params: { id: letters[1]?.id ?? '' },
    body: { reason: 'This version knows the kind.' },
  });

  const pause = await client.call('pauseBuying', {
    body: { kind: 'topup', failure_class: 'rate_limited', reason: 'The service asked for it.' },
  });
  const pauseId = pause.textAt('id');
  await client.call('getPurchaseGate');
  await client.call('endPause', { params: { id: pauseId }, query: { reason: 'They are done.' } });

  const today = new Date().toISOString().slice(0, 10);
  await client.call('getSales', { query: { from_day: today, to_day: today, group_by: 'day,package' } });
  await client.call('exportSales', { query: { from_day: today, to_day: today } });

  // Movements without a cause; one is explained.
  await simulator.move({ type: 'debit', amount: '7.10', reason: 'fee' });
  await simulator.move({ type: 'debit', amount: '1.00', reason: 'fee' });
  const unexplained = await waitFor('the comparison of the books finds the movements', async () => {
    const { data } = (await client.call('listWalletTransactions', { query: { cause: 'none' }, isExample: false })).read(
      list,
    );
    if (data.length < 2) throw new Error(`there are ${data.length}`);
    return data;
  });
  await client.call('explainWalletTransaction', {
    params: { id: unexplained[0]?.id ?? '' },
    body: { reason: 'The fee of the month.' },
  });
  const [reconciliation] = (await client.call('listReconciliations', { query: { limit: '1' } })).read(list).data;

  const ruleId = await price(client);
  const endpointId = await listen(client);
  const event = await waitFor('an event is published', async () => {
    const [first] = (
      await client.call('listEvents', { query: { type: 'order.*', limit: '2' }, isExample: false })
    ).read(list).data;
    return first ?? Promise.reject(new Error('there is none'));
  });

  await client.call('rotateServiceWebhookSecret', { body: { overlap_seconds: 3600 } });
  return {
    order: orderId,
    orderBatch: batchId,
    esim: esimId,
    shareLink: shareLink.textAt('id'),
    getSharePage: secret,
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
    getVpnPlan: String(VPN_PLAN),
    explainWalletTransaction: unexplained[1]?.id ?? '',
    getDocsFile: 'site.css',
    getDocsGuide: 'first-order',
    getProblem: 'validation-failed',
  };
}

/** Orders two batches and cancels what one of them has not bought. @returns the id of the other, which is delivered. */
async function orderBatches(client: DescribedClient): Promise<string> {
  const order = async (reference: string, isExample: boolean) => {
    const items = [{ package_id: 2001, quantity: 3, max_price: ENOUGH }];
    const body = { external_batch_id: reference, items, metadata: { campaign: 'spring' } };
    return (await client.call('createOrderBatch', { body, isExample })).textAt('id');
  };
  const params = { id: await order('campaign-2030', true) };
  await waitFor('the batch is completed', async () => {
    const batch = await client.call('getOrderBatch', { params, isExample: false });
    if (batch.textAt('status') !== 'completed') throw new Error(batch.text);
    return batch;
  });
  const reason = 'The campaign was stopped.';
  await client.call('cancelOrderBatch', { params: { id: await order('campaign-2031', false) }, body: { reason } });
  return params.id;
}

/** Creates two pricing rules and ends one. @returns the id of the other. */
async function price(client: DescribedClient): Promise<string> {
  const terms = { margin: { percent: '25' }, rounding: { step: '1', ending: '0.99', direction: 'up' } };
  const reason = 'Prices of the spring.';
  const rule = await client.call('createPricingRule', {
    body: { target: { kind: 'country', country: 'ES' }, currency: 'USD', terms, reason },
  });
  const params = { id: rule.textAt('id') };
  await client.call('changePricingRule', {
    params,
    body: { terms: { ...terms, minimum_price: '4.99' }, reason: 'Nothing below five.', version: 1 },
  });
  await client.call('tryPricing', {
    body: {
      package_ids: [1001],
      rules: [{ target: { kind: 'default' }, currency: 'USD', terms: { ...terms, margin: { percent: '40' } } }],
    },
  });
  const other = await client.call('createPricingRule', {
    body: { target: { kind: 'default' }, currency: 'USD', terms, reason },
    isExample: false,
  });
  await client.call('endPricingRule', {
    params: { id: other.textAt('id') },
    query: { reason: 'It was a trial.', version: '1' },
  });
  return params.id;
}

/** Creates two webhook endpoints and removes one. @returns the id of the other. */
async function listen(client: DescribedClient): Promise<string> {
  const make = (isExample: boolean) =>
    client.call('createWebhookEndpoint', {
      body: { url: 'http://127.0.0.1:65535/webhooks', event_types: ['order.*'], description: 'The shop.' },
      isExample,
    });
  const params = { id: (await make(true)).textAt('id') };
  await client.call('updateWebhookEndpoint', { params, body: { event_types: ['order.completed', 'order.failed'] } });
  await client.call('testWebhookEndpoint', { params });
  await client.call('replayWebhooks', { params, body: { since: new Date(Date.now() - 3_600_000).toISOString() } });
  await client.call('rotateWebhookEndpointSecret', { params, body: { overlap_seconds: 3600 } });
  await client.call('disableWebhookEndpoint', { params });
  await client.call('enableWebhookEndpoint', { params, body: { replay_missed: true } });
  const removed = { id: (await make(false)).textAt('id') };
  await client.call('deleteWebhookEndpoint', { params: removed });
  return params.id;
}

/** Makes requests with different refusals. */
async function refusals(client: DescribedClient, orderId: string): Promise<void> {
  const headers = { 'Idempotency-Key': randomUUID() };
  const body = { package_id: 2001, external_order_id: 'shop-2030-000124', max_price: CHEAP };
  await client.call('createOrder', { headers, body, isExample: false });
  await client.call('createOrder', { headers, body: { ...body, package_id: 2002 } }, 422);
  await client.call('createOrder', { body: { package_id: 2001, external_order_id: 'shop-2030-000123' } }, 409);
  await client.call('createOrder', { body: { package_id: 424_242, external_order_id: 'shop-2030-000125' } }, 422);
  await client.call(
    'createOrder',
    { body: { ...body, external_order_id: 'shop-2030-000125', device_imei: '12' } },
    400,
  );
  await client.call(
    'createOrder',
    { headers: { 'Idempotency-Key': '' }, body: { ...body, external_order_id: 'shop-2030-000126' } },
    400,
  );
  await client.call('getOrder', { params: { id: 'ord_01JQ8Z00000000000000000000' } }, 404);
  await client.call('retryOrder', { params: { id: orderId }, body: { reason: WHY } }, 409);
  await client.call('listOrders', { headers: { Authorization: 'Bearer nobody' } }, 401);
  await client.call('getPackage', { params: { id: '424242' } }, 404);
}
