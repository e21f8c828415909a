import { breaking, note, type Difference } from '#test/support/contract-differences/draft.ts';
import type { Schema } from '#test/support/contract-openapi.ts';

const text = (constraint: Schema): Schema => ({ type: 'string', ...constraint });

/** Differences of requests that we send. */
export const REQUEST_DIFFERENCES: readonly Difference[] = [
  ...Object.entries<Schema>({
    'a reference must be a UUID': text({ format: 'uuid' }),
    'a reference has at most 20 characters': text({ maxLength: 20 }),
    'a reference has at most 36 characters, so that further attempts have none': text({ maxLength: 36 }),
    'a reference may have no tilde': text({ pattern: '^[A-Za-z0-9_-]+$' }),
    'a reference must begin with a prefix of the reseller': text({ pattern: '^RS-' }),
    'a reference is a number': { type: 'integer' },
  }).map(([name, schema]) =>
    breaking(name, 'createOrder external_order_id', (draft) => {
      draft.set('createOrder request', 'external_order_id', schema);
    }),
  ),
  note('a reference has at most 64 characters', 'createOrder external_order_id', (draft) => {
    draft.set('createOrder request', 'external_order_id', text({ maxLength: 64 }));
  }),
  note('a reference may have no slash', 'createOrder external_order_id', (draft) => {
    draft.set('createOrder request', 'external_order_id', text({ pattern: '^[A-Za-z0-9~_-]+$' }));
  }),
  breaking('the reference of a subscription is short', 'createVpnOrder external_subscription_id', (draft) => {
    draft.set('createVpnOrder request', 'external_subscription_id', { allOf: [text({}), { maxLength: 30 }] });
  }),
  breaking('an IMEI has exactly 15 digits', 'createOrder device_imei', (draft) => {
    draft.set('createOrder request', 'device_imei', text({ pattern: '^[0-9]{15}$' }));
  }),
  breaking('an IMEI has hyphens', 'createOrder device_imei', (draft) => {
    draft.set('createOrder request', 'device_imei', text({ pattern: String.raw`^\d{2}-\d{6}-\d{6}-\d$` }));
  }),
  breaking('an order is sent in an envelope', ['createOrder package_id', 'createOrder external_order_id'], (draft) => {
    const order = draft.body('createOrder request');
    draft.media('createOrder request')['schema'] = { type: 'object', properties: { order } };
  }),
  breaking('the customer price is in whole units', 'createVpnOrder customer_price', (draft) => {
    draft.set('createVpnOrder request', 'customer_price', { type: 'number', multipleOf: 1 });
  }),
  breaking('the customer price is at most 10', 'createVpnOrder customer_price', (draft) => {
    draft.set('createVpnOrder request', 'customer_price', { type: 'number', maximum: 10 });
  }),
  breaking('the customer price is above 50', 'createVpnOrder customer_price', (draft) => {
    draft.set('createVpnOrder request', 'customer_price', { type: 'number', minimum: 50, exclusiveMinimum: true });
  }),
  note('the customer price is not zero', 'createVpnOrder customer_price', (draft) => {
    draft.set('createVpnOrder request', 'customer_price', { type: 'number', exclusiveMinimum: 0 });
  }),
  note('the reference to the customer has at most 100 characters', 'createVpnOrder customer_reference', (draft) => {
    draft.set('createVpnOrder request', 'customer_reference', text({ maxLength: 100 }));
  }),
  breaking('the name of the device is one of a list', 'login device_name', (draft) => {
    draft.set('login request', 'device_name', text({ enum: ['ios', 'android', 'web'] }));
  }),
  note('a token lives for a year at most', 'login expires_in_days', (draft) => {
    draft.set('login request', 'expires_in_days', { type: 'integer', maximum: 365 });
  }),
];
