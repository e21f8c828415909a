import * as z from 'zod';
import { CURRENCY } from '#simulator/catalogue.ts';
import type { Environment } from '#simulator/store/store.ts';
import { ENDPOINTS, type EndpointContract, type EndpointName } from '#upstream/contract.ts';

const ASSUMED_CALLS = Object.values(ENDPOINTS).flatMap((endpoint) =>
  'capability' in endpoint ? [endpoint.capability] : [],
);

/** The specification does not show the paths of these calls. */
function assumedCalls<Value>(value: Value) {
  return Object.fromEntries(ASSUMED_CALLS.map((name) => [`has_${name}`, value])) as Record<
    `has_${(typeof ASSUMED_CALLS)[number]}`,
    Value
  >;
}

const DURATION = z.int().nonnegative();
const POSITIVE_OR_NULL = z.int().positive().nullable();

/** Behaviour of the real service where the specification is silent. The product must stay money-safe with all of it. */
export const dialectProperties = z.strictObject({
  key_replay: z.enum(['replay', 'conflict']),
  key_retention_ms: DURATION.nullable(),
  checks_balance_before_key: z.boolean(),
  stores_4xx: z.boolean(),
  serialises_same_key: z.boolean(),
  purchase_takes_ms: DURATION.max(60_000),
  reference_unique: z.boolean(),
  ...assumedCalls(z.boolean()),
  public_without_token: z.boolean(),
  refusal_is_error: z.boolean(),
  secret_rotates_after_ms: DURATION,
  debits_visible_after_ms: DURATION,
  wallet_filter_shift_ms: z.int(),
  wallet_filter_edge_ms: POSITIVE_OR_NULL,
  clock_offset_ms: z.int(),
  wallet_list_cached_ms: DURATION,
  wallet_rows_after_ms: DURATION,
  wallet_keeps_newest: POSITIVE_OR_NULL,
  wallet_keeps_oldest: POSITIVE_OR_NULL,
  wallet_newest_first: z.boolean(),
  wallet_others_move_ms: DURATION.nullable(),
  wallet_other_currency: z.boolean(),
  wallet_amounts: z.enum(['decimal', 'cents']),
  wallet_currency: z.string().regex(/^[A-Z]{3}$/),
  credits_pending_for_ms: DURATION,
  resigns_retries: z.boolean(),
  event_in_body: z.boolean(),
});

export type Dialect = z.output<typeof dialectProperties>;

const REPLAYS: Dialect = {
  key_replay: 'replay',
  key_retention_ms: null,
  checks_balance_before_key: false,
  stores_4xx: false,
  serialises_same_key: true,
  purchase_takes_ms: 0,
  reference_unique: true,
  ...assumedCalls(true),
  public_without_token: false,
  refusal_is_error: false,
  secret_rotates_after_ms: 0,
  debits_visible_after_ms: 0,
  wallet_filter_shift_ms: 0,
  wallet_filter_edge_ms: null,
  clock_offset_ms: 0,
  wallet_list_cached_ms: 0,
  wallet_rows_after_ms: 0,
  wallet_keeps_newest: null,
  wallet_keeps_oldest: null,
  wallet_newest_first: true,
  wallet_others_move_ms: null,
  wallet_other_currency: false,
  wallet_amounts: 'decimal',
  wallet_currency: CURRENCY,
  credits_pending_for_ms: 0,
  resigns_retries: true,
  event_in_body: true,
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The first is the default; the others are listed by their differences from it. */
const DIFFERENCES = {
  replays: {},
  conflicts: { key_replay: 'conflict' },
  // References are not unique, so that a forgotten key really causes a second debit.
  forgets_keys: { key_retention_ms: 1_000, reference_unique: false },
  ignores_keys: { key_retention_ms: 0, serialises_same_key: false, reference_unique: false },
  balance_first: { checks_balance_before_key: true },
  stores_refusals: { stores_4xx: true },
  concurrent_keys: { serialises_same_key: false, purchase_takes_ms: 50 },
  reusable_references: { reference_unique: false },
  no_order_read: { has_order_read: false },
  no_lookup: {
    has_order_read: false,
    has_order_list: false,
    has_wallet_transactions: false,
    has_topup_read: false,
    has_topup_list: false,
    has_refund_read: false,
    has_refund_list: false,
    has_vpn_subscription_read: false,
    has_vpn_subscription_list: false,
  },
  bare: { ...assumedCalls(false) },
  late_debits: { debits_visible_after_ms: 5_000 },
  same_signature: { resigns_retries: false },
  open_reads: { public_without_token: true },
  refusals_as_errors: { refusal_is_error: true },
  late_rotation: { secret_rotates_after_ms: 60_000 },
  silent_bodies: { event_in_body: false },
  // The two ends of the time zones.
  filter_ahead: { wallet_filter_shift_ms: 14 * HOUR_MS },
  filter_behind: { wallet_filter_shift_ms: -12 * HOUR_MS },
  exclusive_filter: { wallet_filter_edge_ms: 24 * HOUR_MS },
  clock_ahead: { clock_offset_ms: 15 * MINUTE_MS },
  clock_behind: { clock_offset_ms: -15 * MINUTE_MS },
  cached_list: { wallet_list_cached_ms: MINUTE_MS },
  late_rows: { wallet_rows_after_ms: 5 * MINUTE_MS },
  newest_rows_only: { wallet_keeps_newest: 3 },
  oldest_rows_only: { wallet_keeps_oldest: 3 },
  oldest_first: { wallet_newest_first: false },
  others_move: { wallet_others_move_ms: 0 },
  other_currency: { wallet_others_move_ms: 0, wallet_other_currency: true },
} as const satisfies Record<string, Partial<Dialect>>;

export type DialectName = keyof typeof DIFFERENCES;

export const dialectNames = Object.keys(DIFFERENCES) as [DialectName, ...DialectName[]];

export const DIALECTS = Object.fromEntries(
  Object.entries(DIFFERENCES).map(([name, differences]) => [name, { ...REPLAYS, ...differences }]),
) as Readonly<Record<DialectName, Dialect>>;

export const dialectChoice = z.strictObject({
  name: z.enum(dialectNames).default('replays'),
  properties: dialectProperties.partial().default({}),
});
export type DialectChoice = z.output<typeof dialectChoice>;

export function dialectOf(choice: DialectChoice): Dialect {
  const changed = Object.fromEntries(Object.entries(choice.properties).filter(([, value]) => value !== undefined));
  return { ...DIALECTS[choice.name], ...changed };
}

export const endpointNames = Object.keys(ENDPOINTS) as [EndpointName, ...EndpointName[]];

/** False for omitted calls, and in production for calls of the sandbox. */
export function isServed(name: EndpointName, dialect: Dialect, environment: Environment): boolean {
  const endpoint = ENDPOINTS[name];
  if ('sandboxOnly' in endpoint && environment === 'production') return false;
  return !('capability' in endpoint) || dialect[`has_${endpoint.capability}`];
}

export function needsToken(name: EndpointName, dialect: Dialect): boolean {
  const { withoutToken }: EndpointContract = ENDPOINTS[name];
  return name !== 'login' && (withoutToken !== true || !dialect.public_without_token);
}
