import { breaking, field, note, type Difference, type Place } from '#test/support/contract-differences/draft.ts';
import type { BodyName, Schema } from '#test/support/contract-openapi.ts';

const ORDER_READS: readonly BodyName[] = [
  'getOrder answer',
  'listOrders answer',
  'event order.completed',
  'event order.processing',
  'event order.failed',
];

/** Where the eSIM of an order is read. */
const ESIM_PLACES = [
  'getOrder esim_id',
  'listOrders data[].esim_id',
  ...['completed', 'processing', 'failed'].map((state) => `order.${state} data.esim_id`),
];

/** Answers without fields. */
const without = (make: typeof breaking, name: string, ...places: readonly Place[]) =>
  make(name, places, (draft) => {
    for (const [call, field = ''] of places.map((place) => place.split(' ')))
      draft.remove([`${call} answer` as BodyName], field.replace('data[].', ''));
  });
const differs = (name: string, at: Place, schema: Schema) => breaking(name, at, field('answer', at, schema));

/** Differences of fields that some answers may lack and that the product needs elsewhere. */
export const NEEDED_FIELD_DIFFERENCES: readonly Difference[] = [
  breaking('no answer and no event names the eSIM of an order', ESIM_PLACES, (draft) =>
    draft.remove([...ORDER_READS, 'createOrder answer'], 'esim_id'),
  ),
  breaking('the eSIM of an order is always null in reads', ESIM_PLACES, (draft) => {
    for (const body of ORDER_READS) {
      const path = body.startsWith('event') ? 'data' : body.startsWith('list') ? 'data[]' : '';
      draft.set(body, 'esim_id', { type: 'null' }, path);
    }
  }),
  differs('the eSIM of an order is an object', 'getOrder esim_id', {
    type: 'object',
    properties: { id: { type: 'string' } },
  }),
  breaking('only events name the eSIM of an order', ['getOrder esim_id', 'listOrders data[].esim_id'], (draft) => {
    draft.remove(['getOrder answer', 'listOrders answer', 'createOrder answer'], 'esim_id', 'esim');
  }),
  without(note, 'the answer to an order does not name its eSIM', 'createOrder esim_id'),
  without(breaking, 'the list of orders does not name the reference', 'listOrders data[].external_order_id'),
  without(note, 'an order does not name its reference, and the list does', 'getOrder external_order_id'),
  without(
    breaking,
    'the list of subscriptions does not name the reference',
    'listVpnSubscriptions data[].external_subscription_id',
  ),
  without(breaking, 'the list of top-ups does not name the eSIM', 'listTopups data[].esim_id'),
  without(breaking, 'an eSIM has no installation time', 'getEsim installed_at'),
  differs('the installation is a flag', 'getEsim installed_at', { type: 'boolean' }),
  without(breaking, 'no read has access data', 'getVpnSubscription access', 'listVpnSubscriptions data[].access'),
  without(note, 'only the list of subscriptions has access data', 'getVpnSubscription access'),
  without(note, 'the list of subscriptions has no access data', 'listVpnSubscriptions data[].access'),
  without(
    breaking,
    'movements do not name their order',
    'listWalletTransactions data[].order_id',
    'listWalletTransactions data[].external_order_id',
  ),
  without(
    breaking,
    'movements do not name their subscription',
    'listWalletTransactions data[].vpn_subscription_id',
    'listWalletTransactions data[].external_subscription_id',
  ),
];
