import {
  breaking,
  note,
  text,
  type Difference,
  type Draft,
  type Place,
} from '#test/support/contract-differences/draft.ts';
import type { Schema } from '#test/support/contract-openapi.ts';
import type { EndpointName } from '#upstream/contract.ts';

/** The parameter at a place such as `listOrders query limit`. */
function parameterAt(draft: Draft, at: Place) {
  const [call = '', , name = ''] = at.split(' ');
  return draft.parameter(call as EndpointName, name);
}
const differs = (name: string, at: Place, schema: Schema) =>
  breaking(name, at, (draft) => void (parameterAt(draft, at).schema = schema));
const renamed = (make: typeof breaking, at: Place, to: string) =>
  make(`${at} is called ${to}`, at, (draft) => void (parameterAt(draft, at).name = to));

const KEY = 'createVpnOrder header Idempotency-Key';

/** Differences of the query and the headers of calls. */
export const PARAMETER_DIFFERENCES: readonly Difference[] = [
  renamed(breaking, 'listOrders query external_order_id', 'reference'),
  renamed(breaking, 'listVpnSubscriptions query external_subscription_id', 'external_id'),
  renamed(breaking, 'listTopups query esim_id', 'esim'),
  renamed(breaking, 'listRefunds query esim_id', 'filter[esim_id]'),
  renamed(breaking, 'listWalletTransactions query since', 'from'),
  renamed(note, 'listOrders query limit', 'per_page'),
  renamed(note, 'listRefunds query cursor', 'page'),
  differs('a page has at most 50 items', 'listOrders query limit', { type: 'integer', minimum: 1, maximum: 50 }),
  differs('a page has 10, 25 or 50 items', 'listWalletTransactions query limit', {
    type: 'integer',
    enum: [10, 25, 50],
  }),
  differs('transactions are filtered by a day', 'listWalletTransactions query since', text({ format: 'date' })),
  differs('orders are filtered by a UUID', 'listOrders query external_order_id', text({ format: 'uuid' })),
  differs('the channel is another one', 'getLatestUpdate query channel', text({ enum: ['beta', 'production'] })),
  differs('the key has at most 32 characters', KEY, text({ maxLength: 32 })),
  differs('the key has no hyphens', KEY, text({ pattern: '^[a-z0-9]+$' })),
  differs('the key is a ULID', KEY, text({ format: 'ulid' })),
  breaking('every order needs a header of the reseller', 'createOrder header X-Reseller-Id', (draft) => {
    draft.parameters('createOrder').push({ name: 'X-Reseller-Id', in: 'header', required: true, schema: {} });
  }),
];
