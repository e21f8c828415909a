/** Finds the record or the list in an answer that wraps it. */

/** The records of the interface, each with the names under which an answer may wrap it. */
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

/** Maximum depth of wrappers; deeper values are not read. */
export const MOST_WRAPPERS = 3;

/** Names under which one record may be wrapped, such as `data` and `order`. */
export function wrappersOf(record: RecordName): readonly string[] {
  return [...WRAPPERS, ...RECORDS[record]];
}

/** Names under which a list of records may be, such as `data` and `orders`. */
export function listWrappersOf(record: RecordName): readonly string[] {
  return [...LIST_WRAPPERS, ...RECORDS[record].map((name) => `${name}s`)];
}

/**
 * Removes one wrapper: returns the value of the only field with one of these names that contains an object or a list.
 *
 * @returns undefined when there is no such field, or more than one.
 */
export function unwrapped(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const inside = Object.entries(value).filter(
    ([name, field]) => names.includes(name) && typeof field === 'object' && field !== null,
  );
  return inside.length === 1 ? inside[0]?.[1] : undefined;
}
