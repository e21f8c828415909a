/** Every call of the client once, with a good answer and the expected request. */
import { ORDER as SOLD, PACKAGE, TRANSACTION } from '#test/support/service-records.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { orderRequestBytes, topupRequestBytes, vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';
import type { EndpointName } from '#upstream/contract.ts';

interface Exchange {
  readonly call: (client: ServiceClient) => Promise<{ readonly ok: boolean }>;
  readonly answer: unknown;
  /** Method, path and query below the address of the environment. */
  readonly sends: string;
  readonly body?: string;
}

export const KEY = 'key-1';
const ORDER = { ...SOLD, external_order_id: 'shop-1' };
const ESIM = { id: 'e_1', iccid: '8944500000000000001', activation_code: 'LPA:1$a.example$x', status: 'new' };
const TOPUP = { id: 't_1', esim_id: 'e_1', package_id: 7, status: 'processing' };
const REFUND = { id: 'r_1', esim_id: 'e_1', status: 'completed', review: 'accepted' };
const SUBSCRIPTION = { id: 'v_1', external_subscription_id: 'sub-1', status: 'active' };
const page = (item: unknown) => ({ data: [item], next_cursor: null });

const order = orderRequestBytes({ packageId: 7, reference: 'shop-1', deviceImei: '490154203237518' });
const topup = topupRequestBytes({ esimId: 'e_1', packageId: 7 });
const vpnOrder = vpnOrderRequestBytes({
  vpnPlanId: 3,
  reference: 'sub-1',
  customerReference: 'c-9',
  customerPrice: '9.90',
});

export const EXCHANGES: Readonly<Record<Exclude<EndpointName, 'login'>, Exchange>> = {
  listPackages: { call: (client) => client.listPackages(), answer: page(PACKAGE), sends: 'GET /packages?limit=100' },
  listPublicPackages: {
    call: (client) => client.listPublicPackages(),
    answer: page({ id: 7, name: 'Europe 1 GB' }),
    sends: 'GET /public/packages?limit=100',
  },
  createOrder: {
    call: (client) => client.createOrder({ idempotencyKey: KEY, body: order, reference: 'shop-1', packageId: 7 }),
    answer: ORDER,
    sends: 'POST /orders',
    body: '{"package_id":7,"external_order_id":"shop-1","device_imei":"490154203237518"}',
  },
  getOrder: { call: (client) => client.getOrder('so_1'), answer: ORDER, sends: 'GET /orders/so_1' },
  listOrders: {
    call: (client) => client.findOrdersByReference('shop-1'),
    answer: page(ORDER),
    sends: 'GET /orders?external_order_id=shop-1&limit=100',
  },
  getEsim: { call: (client) => client.getEsim('e_1'), answer: ESIM, sends: 'GET /esims/e_1' },
  getEsimUsage: {
    call: (client) => client.getEsimUsage('e_1'),
    answer: { data_used_mb: 0 },
    sends: 'GET /esims/e_1/usage',
  },
  listTopupOptions: {
    call: (client) => client.listTopupOptions('e_1'),
    answer: page(PACKAGE),
    sends: 'GET /esims/e_1/topup-options',
  },
  createTopup: {
    call: (client) => client.createTopup({ idempotencyKey: KEY, body: topup, esimId: 'e_1', packageId: 7 }),
    answer: TOPUP,
    sends: 'POST /topups',
    body: '{"esim_id":"e_1","package_id":7}',
  },
  getTopup: { call: (client) => client.getTopup('t_1'), answer: TOPUP, sends: 'GET /topups/t_1' },
  listTopups: {
    call: (client) => client.findTopupsOfEsim('e_1'),
    answer: page(TOPUP),
    sends: 'GET /topups?esim_id=e_1&limit=100',
  },
  cancelEsim: {
    call: (client) => client.cancelEsim({ idempotencyKey: KEY, esimId: 'e_1' }),
    answer: { esim_id: 'e_1', status: 'cancelled', refund: REFUND },
    sends: 'POST /esims/e_1/cancel',
  },
  getRefund: { call: (client) => client.getRefund('r_1'), answer: REFUND, sends: 'GET /refunds/r_1' },
  listRefunds: {
    call: (client) => client.findRefundsOfEsim('e_1'),
    answer: page(REFUND),
    sends: 'GET /refunds?esim_id=e_1&limit=100',
  },
  listVpnPlans: {
    call: (client) => client.listVpnPlans(),
    answer: page({ id: 3, name: 'Monthly', price_for_reseller: 2.5, currency: 'EUR' }),
    sends: 'GET /vpn/plans',
  },
  createVpnOrder: {
    call: (client) => client.createVpnOrder({ idempotencyKey: KEY, body: vpnOrder, reference: 'sub-1', vpnPlanId: 3 }),
    answer: SUBSCRIPTION,
    sends: 'POST /vpn/orders',
    body: '{"vpn_plan_id":3,"external_subscription_id":"sub-1","customer_reference":"c-9","customer_price":9.90}',
  },
  getVpnSubscription: {
    call: (client) => client.getVpnSubscription('v_1'),
    answer: { ...SUBSCRIPTION, access: { username: 'u', password: 'p' } },
    sends: 'GET /vpn/subscriptions/v_1',
  },
  listVpnSubscriptions: {
    call: (client) => client.findVpnSubscriptionsByReference('sub-1'),
    answer: page(SUBSCRIPTION),
    sends: 'GET /vpn/subscriptions?external_subscription_id=sub-1&limit=100',
  },
  cancelVpnSubscription: {
    call: (client) => client.cancelVpnSubscription('v_1'),
    answer: { ...SUBSCRIPTION, status: 'cancelled' },
    sends: 'POST /vpn/subscriptions/v_1/cancel',
  },
  getWallet: {
    call: (client) => client.getWallet(),
    answer: { balance: '10.00', currency: 'EUR' },
    sends: 'GET /wallet',
  },
  listWalletTransactions: {
    call: (client) => client.listWalletTransactions({ reference: 'shop-1' }),
    answer: page(TRANSACTION),
    sends: 'GET /wallet/transactions?external_order_id=shop-1&limit=100',
  },
  getLatestUpdate: {
    call: (client) => client.getLatestUpdate({ currentVersion: '1.4.2', channel: 'stable' }),
    answer: { latest_version: '1.5', update_available: true },
    sends: 'GET /updates/latest?current_version=1.4.2&channel=stable',
  },
  getOpenApi: {
    call: (client) => client.getOpenApi(),
    answer: { openapi: '3.1.0', info: { title: 'x' }, paths: {} },
    sends: 'GET /openapi.json',
  },
  simulateEsim: {
    call: (client) => client.simulateEsim('e_1', 'installed'),
    answer: { id: 'e_1', status: 'installed' },
    sends: 'POST /esims/e_1/simulate',
    body: '{"state":"installed"}',
  },
  createWebhookSecret: {
    call: (client) => client.createWebhookSecret(),
    answer: { secret: 'whsec_0123456789' },
    sends: 'POST /webhook-secret',
  },
  rotateWebhookSecret: {
    call: (client) => client.rotateWebhookSecret(),
    answer: { secret: 'whsec_9876543210' },
    sends: 'POST /webhook-secret/rotate',
  },
};
export const exchangeNames = Object.keys(EXCHANGES) as (keyof typeof EXCHANGES)[];
