/** Example values that the product sends, to compare with the document. */
import { attemptReference } from '#domain/work/identifiers.ts';
import { PAGE_SIZE } from '#upstream/client/calls.ts';
import { IDEMPOTENCY_KEY_HEADER } from '#upstream/contract.ts';

export interface SentValues {
  /** Every reseller sends such values: work stops when they are refused. */
  readonly usual: readonly unknown[];
  /** Callers of our API may choose such values; the service refuses them before it buys. */
  readonly possible: readonly unknown[];
}

const UUID = '0b9f2c9e-5d1f-4c58-9f3b-6a1d2e7c4b10';
// The maximum length of a caller's reference in our API.
const LONGEST = 'R'.repeat(64);

/** References of callers, and the derived references of further attempts. */
const REFERENCES: SentValues = {
  usual: ['ORD-1042', UUID, attemptReference('ORD-1042', 1, 2), attemptReference(UUID, 1, 2)],
  possible: ['7', 'shop/2026:#1042', attemptReference(LONGEST, 1, 10), attemptReference('ORD-1042', 2, 1)],
};

/** By name, for bodies, queries and headers alike. Ids are missing: they come from the service, so they always fit. */
const SENT_VALUES: Readonly<Record<string, SentValues>> = {
  [IDEMPOTENCY_KEY_HEADER]: { usual: [UUID], possible: [] },
  external_order_id: REFERENCES,
  external_subscription_id: REFERENCES,
  device_imei: { usual: ['356938035643809', '35693803564380', '3569380356438091'], possible: [] },
  customer_reference: { usual: ['C-2207', UUID], possible: ['Zoë, table 7', 'C'.repeat(255)] },
  customer_price: { usual: [9.99, 12.5, 20, 149], possible: [0, 0.001, 100_000] },
  email: { usual: ['reseller@example.com'], possible: [] },
  device_name: { usual: ['reseller-fulfilment'], possible: ['D'.repeat(255)] },
  expires_in_days: { usual: [], possible: [1, 30, 3650] },
  limit: { usual: [String(PAGE_SIZE)], possible: [] },
  since: { usual: ['2026-01-31T10:00:00.000Z'], possible: [] },
  current_version: { usual: ['1.4.0'], possible: ['2'] },
  channel: { usual: ['stable'], possible: [] },
};

/** @returns undefined when the values of this name are not ours to choose. */
export function sentValues(name: string): SentValues | undefined {
  return Object.hasOwn(SENT_VALUES, name) ? SENT_VALUES[name] : undefined;
}
