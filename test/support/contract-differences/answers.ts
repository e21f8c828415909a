import {
  breaking,
  field,
  note,
  pathOfRecord,
  text,
  type Difference,
  type Place,
} from '#test/support/contract-differences/draft.ts';
import type { BodyName, Schema } from '#test/support/contract-openapi.ts';

const differs = (name: string, at: Place, schema: Schema) => breaking(name, at, field('answer', at, schema));
const noted = (name: string, at: Place, schema: Schema) => note(name, at, field('answer', at, schema));
const pattern = (regex: string) => text({ pattern: regex });

/** A list with these fields about its pages in place of a cursor. */
function paged(name: string, fields: Schema): Difference {
  return note(name, 'listOrders', (draft) => {
    const properties = draft.fields('listOrders answer');
    Reflect.deleteProperty(properties, 'next_cursor');
    Object.assign(properties, fields);
  });
}

const WHOLE: Schema = { type: 'integer' };
const MOVEMENT_TYPE = 'listWalletTransactions data[].type';

const PAGINGS: readonly Difference[] = [
  paged('a list has only a flag for a next page', { has_more: { type: 'boolean' } }),
  paged('pages have no number', { meta: { type: 'object', properties: { last_page: WHOLE, total: WHOLE } } }),
  paged('a list has only the number of items', { total: WHOLE }),
  note('pages are linked in a header', 'listOrders', (draft) => {
    Reflect.deleteProperty(draft.fields('listOrders answer'), 'next_cursor');
    const responses = draft.call('listOrders')['responses'] as Record<string, Schema>;
    Object.assign(responses['200'] ?? {}, { headers: { Link: { schema: text() } } });
  }),
];

export const ANSWER_DIFFERENCES: readonly Difference[] = [
  differs('the token may be null', 'login access_token', { oneOf: [text(), { type: 'null' }] }),
  differs('the balance may be null by a reference', 'getWallet balance', { allOf: [text()], nullable: true }),
  differs('the states of a subscription are numbers', 'getVpnSubscription status', WHOLE),
  differs('a movement may be a hold', MOVEMENT_TYPE, text({ enum: ['debit', 'credit', 'hold'] })),
  differs('a price is in cents', 'listPackages data[].price_for_reseller', WHOLE),
  differs('the balance is in steps of 1', 'getWallet balance', { type: 'number', multipleOf: 1 }),
  differs('an amount is text without decimals', 'listWalletTransactions data[].amount', pattern(String.raw`^-?\d+$`)),
  differs('a price has a comma', 'listTopupOptions data[].price_for_reseller', pattern(String.raw`^\d+,\d{2}$`)),
  differs(
    'a price names its currency',
    'listVpnPlans data[].price_for_reseller',
    pattern(String.raw`^\d+\.\d{2} [A-Z]{3}$`),
  ),
  differs('a price is an object of unknown fields', 'listPackages data[].price_for_reseller', {
    type: 'object',
    properties: { net: { type: 'number' }, gross: { type: 'number' } },
  }),
  differs('the currency is a sign', 'getWallet currency', text({ enum: ['$', '€'] })),
  differs('the currency is a numeric code', 'listPackages data[].currency', pattern('^[0-9]{3}$')),
  ...['^[0-9]{19}X$', '^[0-9]{12}$'].map((regex) =>
    noted(`the ICCID is like ${regex}`, 'getEsim iccid', pattern(regex)),
  ),
  differs('the activation code is a link', 'getEsim activation_code', pattern('^https://')),
  differs('the activation code is a picture', 'getEsim activation_code', text({ format: 'byte' })),
  differs('the activation code is only the matching id', 'getEsim activation_code', pattern('^[A-Z0-9-]{4,32}$')),
  differs('ids have 200 characters', 'getOrder id', text({ minLength: 200 })),
  differs('ids have spaces', 'getRefund id', pattern('^[A-Z]+ [0-9]+$')),
  differs('times are days', 'listWalletTransactions data[].created_at', text({ format: 'date' })),
  note('the access data of a read have no password', 'getVpnSubscription access.password', (draft) => {
    for (const name of ['configuration', 'licence_key'] as const)
      draft.remove(['getVpnSubscription answer'], name, undefined, () => 'access');
    draft.remove(['getVpnSubscription answer'], 'password', 'pre_shared_key', () => 'access');
  }),
  breaking('an order is XML', 'getOrder', (draft) => {
    draft.call('getOrder')['responses'] = { 200: { content: { 'application/xml': {} } } };
  }),
  breaking('an envelope has an unknown name', ['getWallet balance', 'getWallet currency'], (draft) => {
    const body = draft.body('getWallet answer');
    draft.media('getWallet answer')['schema'] = { type: 'object', properties: { body } };
  }),
  noted('an order is never failed', 'getOrder status', text({ enum: ['processing', 'completed'] })),
  noted('countries may be null', 'listPackages data[].countries', { type: ['array', 'null'] }),
  note('a list has no end mark', 'listWalletTransactions', (draft) => {
    draft.remove(['listWalletTransactions answer'], 'next_cursor', 'more_at', () => '');
  }),
  note('an order is in an envelope', 'getOrder', (draft) => {
    draft.media('getOrder answer')['schema'] = { type: 'object', properties: { data: draft.body('getOrder answer') } };
  }),
  note('orders are a bare list', 'listOrders', (draft) => {
    draft.media('listOrders answer')['schema'] = draft.fields('listOrders answer')['data'];
  }),
  breaking('an order is at the top and in data', 'getOrder', (draft) => {
    const body = draft.body('getOrder answer');
    Object.assign(draft.fields('getOrder answer'), { data: structuredClone(body) });
  }),
  breaking('a list is beside the envelope of an order', ['getOrder id', 'getOrder status'], (draft) => {
    const body = draft.body('getOrder answer');
    const properties = { data: body, result: { type: 'array', items: {} } };
    draft.media('getOrder answer')['schema'] = { type: 'object', properties };
  }),
  breaking('the document is in an envelope', ['getOpenApi openapi', 'getOpenApi paths'], (draft) => {
    const properties = { data: draft.body('getOpenApi answer') };
    draft.media('getOpenApi answer')['schema'] = { type: 'object', properties };
  }),
  ...PAGINGS,
];

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

const without = (make: typeof breaking, name: string, ...places: readonly Place[]) =>
  make(name, places, (draft) => {
    for (const [call, field = ''] of places.map((place) => place.split(' ')))
      draft.remove([`${call} answer` as BodyName], field.replace('data[].', ''));
  });

/** Differences of fields that some answers may lack and that the product needs elsewhere. */
export const NEEDED_FIELD_DIFFERENCES: readonly Difference[] = [
  breaking('no answer and no event names the eSIM of an order', ESIM_PLACES, (draft) =>
    draft.remove([...ORDER_READS, 'createOrder answer'], 'esim_id'),
  ),
  breaking('the eSIM of an order is always null in reads', ESIM_PLACES, (draft) => {
    for (const body of ORDER_READS) draft.set(body, 'esim_id', { type: 'null' }, pathOfRecord(body));
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
