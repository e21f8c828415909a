import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { DescribedClient } from '#test/api-fuzz/described-client.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';

/** Ids by the `x-kind` of their parameter, or by their operation if the parameter has none. */
export type Ids = Readonly<Record<string, string>>;

/** A plan of the simulator. */
export const VPN_PLAN = 301;

const list = z.object({ data: z.array(z.looseObject({ id: z.string() })) });

/** Options of a stack for {@link createExamples}: the books are compared at once, and held work stays held. */
export const EXAMPLES_STACK = {
  environment: { 'books.grace': '0s', 'books.every': '2s', 'retry.hold_delay': '1h', 'retry.max_attempts': 1 },
  simulator: { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_SEED: 'documentation' },
} as const;

/** Creates a resource of every kind, so that ids in paths exist. */
export async function createExamples(stack: Stack, client: DescribedClient): Promise<Ids> {
  const desk = new OrderDesk(stack);
  const reaches = (path: string, ...statuses: string[]) => stack.workReaches(path, statuses);
  const firstOf = async (operation: string, query: Readonly<Record<string, string>> = {}) =>
    waitFor(`${operation} lists something`, async () => {
      const [first] = (await client.call(operation, { query })).read(list).data;
      return first?.id ?? Promise.reject(new Error('there is nothing'));
    });
  const made = async (operation: string, call: Parameters<DescribedClient['call']>[1]) =>
    (await client.call(operation, call)).textAt('id');

  const order = await made('createOrder', { body: { package_id: 2001, external_order_id: 'shop-2030-000123' } });
  const esim = (await reaches(`/v1/orders/${order}`, 'completed')).textAt('esim_id');
  const link = await client.call('createShareLink', { params: { id: esim }, body: {} });
  const items = [{ package_id: 2001, quantity: 3 }];
  const orderBatch = await made('createOrderBatch', { body: { external_batch_id: 'campaign-2030', items } });

  const topup = await made('createTopup', { body: { esim_id: await desk.newEsim(), package_id: 1002 } });
  await reaches(`/v1/topups/${topup}`, 'completed');
  const cancellation = await made('cancelEsim', { params: { id: await desk.newEsim() }, body: {} });
  await reaches(`/v1/cancellations/${cancellation}`, 'completed');
  const vpn = await made('createVpnSubscription', {
    body: {
      vpn_plan_id: VPN_PLAN,
      external_subscription_id: 'shop-vpn-000042',
      customer_reference: 'C-2207',
      customer_price: { amount: '5.99', currency: 'USD' },
    },
  });
  await reaches(`/v1/vpn/subscriptions/${vpn}`, 'active');

  // Two bodies with the same delivery id are a case; an unknown event is a dead letter.
  const deliveryId = randomUUID();
  for (const status of ['processing', 'failed'])
    await client.deliver(deliveryId, `order.${status}`, { id: 'so_CONFLICT', status });
  await client.deliver(randomUUID(), 'order.refurbished', { id: 'so_UNKNOWN' });
  await desk.simulator.move({ type: 'debit', amount: '7.10', reason: 'fee' });

  const reason = 'An example.';
  const terms = { margin: { percent: '25' } };
  return {
    order,
    orderBatch,
    esim,
    shareLink: link.textAt('id'),
    getSharePage: link.textAt('path').slice('/e/'.length),
    topup,
    cancellation,
    refund: await firstOf('listRefunds'),
    vpn_subscription: vpn,
    case: await firstOf('listCases', { reason: 'webhook_conflict' }),
    pause: await made('pauseBuying', { body: { kind: 'topup', failure_class: 'rate_limited', reason } }),
    explainWalletTransaction: await firstOf('listWalletTransactions', { cause: 'none' }),
    reconciliation: await firstOf('listReconciliations'),
    pricingRule: await made('createPricingRule', {
      body: { target: { kind: 'country', country: 'ES' }, currency: 'USD', terms, reason },
    }),
    webhookEndpoint: await made('createWebhookEndpoint', { body: { url: 'http://127.0.0.1:65535/webhooks' } }),
    event: await firstOf('listEvents', { type: 'order.*' }),
    getPackage: '1001',
    getVpnPlan: String(VPN_PLAN),
    getDocsFile: 'site.css',
    getDocsGuide: 'first-order',
    getProblem: 'validation-failed',
  };
}
