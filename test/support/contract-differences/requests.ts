import {
  breaking,
  field,
  note,
  text,
  type Difference,
  type Draft,
  type Place,
} from '#test/support/contract-differences/draft.ts';
import type { Schema } from '#test/support/contract-openapi.ts';
import type { EndpointName } from '#upstream/contract.ts';

const differs = (name: string, at: Place, schema: Schema) => breaking(name, at, field('request', at, schema));
const noted = (name: string, at: Place, schema: Schema) => note(name, at, field('request', at, schema));

const REFERENCE = 'createOrder external_order_id';
const PRICE = 'createVpnOrder customer_price';

export const REQUEST_DIFFERENCES: readonly Difference[] = [
  differs('a reference must be a UUID', REFERENCE, text({ format: 'uuid' })),
  differs('a reference has at most 20 characters', REFERENCE, text({ maxLength: 20 })),
  differs('further attempts have no reference, of at most 36 characters', REFERENCE, text({ maxLength: 36 })),
  differs('a reference may have no tilde', REFERENCE, text({ pattern: '^[A-Za-z0-9_-]+$' })),
  differs('a reference must begin with a prefix of the reseller', REFERENCE, text({ pattern: '^RS-' })),
  differs('a reference is a number', REFERENCE, { type: 'integer' }),
  noted('a reference has at most 64 characters', REFERENCE, text({ maxLength: 64 })),
  noted('a reference may have no slash', REFERENCE, text({ pattern: '^[A-Za-z0-9~_-]+$' })),
  differs('the reference of a subscription is short', 'createVpnOrder external_subscription_id', {
    allOf: [text(), { maxLength: 30 }],
  }),
  differs('an IMEI has exactly 15 digits', 'createOrder device_imei', text({ pattern: '^[0-9]{15}$' })),
  differs('an IMEI has hyphens', 'createOrder device_imei', text({ pattern: String.raw`^\d{2}-\d{6}-\d{6}-\d$` })),
  breaking('an order is sent in an envelope', ['createOrder package_id', REFERENCE], (draft) => {
    const order = draft.body('createOrder request');
    draft.media('createOrder request')['schema'] = { type: 'object', properties: { order } };
  }),
  differs('the customer price is in whole units', PRICE, { type: 'number', multipleOf: 1 }),
  differs('the customer price is at most 10', PRICE, { type: 'number', maximum: 10 }),
  differs('the customer price is above 50', PRICE, { type: 'number', minimum: 50, exclusiveMinimum: true }),
  noted('the customer price is not zero', PRICE, { type: 'number', exclusiveMinimum: 0 }),
  noted(
    'a reference to the customer has 100 characters',
    'createVpnOrder customer_reference',
    text({ maxLength: 100 }),
  ),
  differs('the name of the device is one of a list', 'login device_name', text({ enum: ['ios', 'android', 'web'] })),
  noted('a token lives for a year at most', 'login expires_in_days', { type: 'integer', maximum: 365 }),
];

/** The parameter at a place such as `listOrders query limit`. */
function parameterAt(draft: Draft, at: Place) {
  const [call = '', , name = ''] = at.split(' ');
  return draft.parameter(call as EndpointName, name);
}
const given = (name: string, at: Place, schema: Schema) =>
  breaking(name, at, (draft) => void (parameterAt(draft, at).schema = schema));
const renamed = (make: typeof breaking, at: Place, to: string) =>
  make(`${at} is called ${to}`, at, (draft) => void (parameterAt(draft, at).name = to));

const KEY = 'createVpnOrder header Idempotency-Key';

export const PARAMETER_DIFFERENCES: readonly Difference[] = [
  renamed(breaking, 'listOrders query external_order_id', 'reference'),
  renamed(breaking, 'listVpnSubscriptions query external_subscription_id', 'external_id'),
  renamed(breaking, 'listTopups query esim_id', 'esim'),
  renamed(breaking, 'listRefunds query esim_id', 'filter[esim_id]'),
  renamed(breaking, 'listWalletTransactions query since', 'from'),
  renamed(note, 'listOrders query limit', 'per_page'),
  renamed(note, 'listRefunds query cursor', 'page'),
  given('a page has at most 50 items', 'listOrders query limit', { type: 'integer', minimum: 1, maximum: 50 }),
  given('a page has 10, 25 or 50 items', 'listWalletTransactions query limit', {
    type: 'integer',
    enum: [10, 25, 50],
  }),
  given('transactions are filtered by a day', 'listWalletTransactions query since', text({ format: 'date' })),
  given('orders are filtered by a UUID', 'listOrders query external_order_id', text({ format: 'uuid' })),
  given('the channel is another one', 'getLatestUpdate query channel', text({ enum: ['beta', 'production'] })),
  given('the key has at most 32 characters', KEY, text({ maxLength: 32 })),
  given('the key has no hyphens', KEY, text({ pattern: '^[a-z0-9]+$' })),
  given('the key is a ULID', KEY, text({ format: 'ulid' })),
  breaking('every order needs a header of the reseller', 'createOrder header X-Reseller-Id', (draft) => {
    draft.parameters('createOrder').push({ name: 'X-Reseller-Id', in: 'header', required: true, schema: {} });
  }),
];
