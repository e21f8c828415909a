import { breaking, note, type Difference } from '#test/support/contract-differences/draft.ts';
import type { BodyName } from '#test/support/contract-openapi.ts';

const ORDER_READS: readonly BodyName[] = [
  'getOrder answer',
  'listOrders answer',
  'event order.completed',
  'event order.processing',
  'event order.failed',
];

/** Differences of fields that some answers may lack and that the product needs elsewhere. */
export const NEEDED_FIELD_DIFFERENCES: readonly Difference[] = [
  breaking(
    'no answer and no event names the eSIM of an order',
    [
      'getOrder esim_id',
      'listOrders data[].esim_id',
      'order.completed data.esim_id',
      'order.processing data.esim_id',
      'order.failed data.esim_id',
    ],
    (draft) => draft.remove([...ORDER_READS, 'createOrder answer'], 'esim_id'),
  ),
  breaking(
    'the eSIM of an order is always null in reads',
    [
      'getOrder esim_id',
      'listOrders data[].esim_id',
      'order.completed data.esim_id',
      'order.processing data.esim_id',
      'order.failed data.esim_id',
    ],
    (draft) => {
      for (const body of ORDER_READS) {
        const path = body.startsWith('event') ? 'data' : body.startsWith('list') ? 'data[]' : '';
        draft.set(body, 'esim_id', { type: 'null' }, path);
      }
    },
  ),
  breaking('the eSIM of an order is an object', 'getOrder esim_id', (draft) => {
    draft.set('getOrder answer', 'esim_id', { type: 'object', properties: { id: { type: 'string' } } });
  }),
  breaking('only events name the eSIM of an order', ['getOrder esim_id', 'listOrders data[].esim_id'], (draft) => {
    draft.remove(['getOrder answer', 'listOrders answer', 'createOrder answer'], 'esim_id', 'esim');
  }),
  note('the answer to an order does not name its eSIM', 'createOrder esim_id', (draft) => {
    draft.remove(['createOrder answer'], 'esim_id');
  }),
  breaking('the list of orders does not name the reference', 'listOrders data[].external_order_id', (draft) => {
    draft.remove(['listOrders answer'], 'external_order_id');
  }),
  note('an order does not name its reference, and the list does', 'getOrder external_order_id', (draft) => {
    draft.remove(['getOrder answer'], 'external_order_id');
  }),
  breaking(
    'the list of subscriptions does not name the reference',
    'listVpnSubscriptions data[].external_subscription_id',
    (draft) => draft.remove(['listVpnSubscriptions answer'], 'external_subscription_id'),
  ),
  breaking('the list of top-ups does not name the eSIM', 'listTopups data[].esim_id', (draft) => {
    draft.remove(['listTopups answer'], 'esim_id');
  }),
  breaking('an eSIM has no installation time', 'getEsim installed_at', (draft) => {
    draft.remove(['getEsim answer'], 'installed_at');
  }),
  breaking('the installation is a flag', 'getEsim installed_at', (draft) => {
    draft.set('getEsim answer', 'installed_at', { type: 'boolean' });
  }),
  breaking('no read has access data', ['getVpnSubscription access', 'listVpnSubscriptions data[].access'], (draft) => {
    draft.remove(['getVpnSubscription answer', 'listVpnSubscriptions answer'], 'access');
  }),
  note('only the list of subscriptions has access data', 'getVpnSubscription access', (draft) => {
    draft.remove(['getVpnSubscription answer'], 'access');
  }),
  note('the list of subscriptions has no access data', 'listVpnSubscriptions data[].access', (draft) => {
    draft.remove(['listVpnSubscriptions answer'], 'access');
  }),
  breaking(
    'movements do not name their order',
    ['listWalletTransactions data[].order_id', 'listWalletTransactions data[].external_order_id'],
    (draft) => {
      draft.remove(['listWalletTransactions answer'], 'order_id');
      draft.remove(['listWalletTransactions answer'], 'external_order_id');
    },
  ),
  breaking(
    'movements do not name their subscription',
    ['listWalletTransactions data[].vpn_subscription_id', 'listWalletTransactions data[].external_subscription_id'],
    (draft) => {
      draft.remove(['listWalletTransactions answer'], 'vpn_subscription_id');
      draft.remove(['listWalletTransactions answer'], 'external_subscription_id');
    },
  ),
];
