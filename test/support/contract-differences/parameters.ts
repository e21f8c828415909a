import { breaking, note, type Difference } from '#test/support/contract-differences/draft.ts';
import type { Schema } from '#test/support/contract-openapi.ts';
import type { EndpointName } from '#upstream/contract.ts';

const FILTERS: readonly (readonly [EndpointName, string, string])[] = [
  ['listOrders', 'external_order_id', 'reference'],
  ['listVpnSubscriptions', 'external_subscription_id', 'external_id'],
  ['listTopups', 'esim_id', 'esim'],
  ['listRefunds', 'esim_id', 'filter[esim_id]'],
  ['listWalletTransactions', 'since', 'from'],
];

const KEY = 'Idempotency-Key';

/** Differences of the query and the headers of calls. */
export const PARAMETER_DIFFERENCES: readonly Difference[] = [
  ...FILTERS.map(([call, name, other]) =>
    breaking(`${call} is filtered by ${other}`, `${call} query ${name}`, (draft) => {
      draft.parameter(call, name).name = other;
    }),
  ),
  breaking('a page has at most 50 items', 'listOrders query limit', (draft) => {
    draft.parameter('listOrders', 'limit').schema = { type: 'integer', minimum: 1, maximum: 50 };
  }),
  breaking('a page has 10, 25 or 50 items', 'listWalletTransactions query limit', (draft) => {
    draft.parameter('listWalletTransactions', 'limit').schema = { type: 'integer', enum: [10, 25, 50] };
  }),
  note('the size of a page has another name', 'listOrders query limit', (draft) => {
    draft.parameter('listOrders', 'limit').name = 'per_page';
  }),
  note('a list is paged by number', 'listRefunds query cursor', (draft) => {
    draft.parameter('listRefunds', 'cursor').name = 'page';
  }),
  breaking('transactions are filtered by a day', 'listWalletTransactions query since', (draft) => {
    draft.parameter('listWalletTransactions', 'since').schema = { type: 'string', format: 'date' };
  }),
  breaking('orders are filtered by a UUID', 'listOrders query external_order_id', (draft) => {
    draft.parameter('listOrders', 'external_order_id').schema = { type: 'string', format: 'uuid' };
  }),
  breaking('the channel is one of others', 'getLatestUpdate query channel', (draft) => {
    draft.parameter('getLatestUpdate', 'channel').schema = { type: 'string', enum: ['beta', 'production'] };
  }),
  ...Object.entries<Schema>({
    'the key has at most 32 characters': { type: 'string', maxLength: 32 },
    'the key has no hyphens': { type: 'string', pattern: '^[a-z0-9]+$' },
    'the key is a ULID': { type: 'string', format: 'ulid' },
  }).map(([name, schema]) =>
    breaking(name, 'createVpnOrder header Idempotency-Key', (draft) => {
      draft.parameter('createVpnOrder', KEY).schema = schema;
    }),
  ),
  breaking('every order needs a header of the reseller', 'createOrder header X-Reseller-Id', (draft) => {
    draft.parameters('createOrder').push({ name: 'X-Reseller-Id', in: 'header', required: true, schema: {} });
  }),
];
