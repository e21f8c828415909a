/** Where the record or the list is in an answer that wraps it. */

/** What an answer is about; also the names under which it may be wrapped. */
const RECORDS = {
  access: ['token'],
  cancellation: ['cancellation', 'esim'],
  document: [],
  esim: ['esim'],
  order: ['order'],
  package: ['package'],
  plan: ['plan', 'vpn_plan'],
  refund: ['refund'],
  secret: ['secret', 'webhook_secret'],
  subscription: ['subscription', 'vpn_subscription'],
  topup: ['topup', 'top_up'],
  transaction: ['transaction', 'wallet_transaction'],
  update: ['update'],
  usage: ['usage'],
  wallet: ['wallet'],
} as const satisfies Record<string, readonly string[]>;
export type RecordName = keyof typeof RECORDS;

const WRAPPERS = ['data', 'result', 'payload'];
const LIST_WRAPPERS = [...WRAPPERS, 'items', 'results', 'records'];

/** Deeper than this nothing is looked for. */
export const MOST_WRAPPERS = 3;

/** Names under which one record may be wrapped, such as `data` and `order`. */
export function wrappersOf(record: RecordName): readonly string[] {
  return [...WRAPPERS, ...RECORDS[record]];
}

/** Names under which a list of records may stand, such as `data` and `orders`. */
export function listWrappersOf(record: RecordName): readonly string[] {
  return [...LIST_WRAPPERS, ...RECORDS[record].map((name) => `${name}s`)];
}

/**
 * The next layer of a wrapped value: what stands under the only one of these names that holds an object or a list.
 *
 * @returns undefined where there is none, or more than one.
 */
export function unwrapped(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const inside = Object.entries(value).filter(
    ([name, field]) => names.includes(name) && typeof field === 'object' && field !== null,
  );
  return inside.length === 1 ? inside[0]?.[1] : undefined;
}
