import * as z from 'zod';
import { CURRENCY } from '#simulator/catalogue.ts';
import type { Environment } from '#simulator/store/store.ts';
import { ENDPOINTS, type EndpointContract, type EndpointName } from '#upstream/contract.ts';

const exists = (what: string) => z.boolean().meta({ description: `${what} exists.` });

/** Behaviour of the real service where the specification is silent. The product must stay money-safe with all of it. */
export const dialectProperties = z.strictObject({
  key_replay: z.enum(['replay', 'conflict']).meta({
    description: 'Answer to a repeated key with the same body: the stored result, or 409 idempotency_key_reused.',
  }),
  key_retention_ms: z.int().nonnegative().nullable().meta({
    description: 'Milliseconds for which keys are stored; null for ever, 0 not at all.',
  }),
  checks_balance_before_key: z.boolean().meta({
    description: 'A repeated key is refused with 402 when the balance no longer covers the price.',
  }),
  stores_4xx: z.boolean().meta({
    description:
      'Refusals of a purchase (402, package unavailable, reference exists) are results that the key repeats.',
  }),
  serialises_same_key: z.boolean().meta({
    description: 'A second concurrent send of a key gets 409 idempotency_key_in_use. If not, both are carried out.',
  }),
  purchase_takes_ms: z.int().nonnegative().max(60_000).meta({
    description: 'Time between the checks of a purchase and its execution, during which its key is in use.',
  }),
  reference_unique: z.boolean().meta({
    description: 'A second order with the same external_order_id is refused with 409 reference_exists.',
  }),
  has_order_read: exists('GET /orders/{id}'),
  has_order_list: exists('GET /orders'),
  has_wallet_transactions: exists('GET /wallet/transactions'),
  has_public_packages: exists('GET /public/packages'),
  has_esim_usage: exists('GET /esims/{id}/usage'),
  has_topup_read: exists('GET /topups/{id}'),
  has_topup_list: exists('GET /topups'),
  has_refund_read: exists('GET /refunds/{id}'),
  has_refund_list: exists('GET /refunds'),
  has_vpn_subscription_read: exists('GET /vpn/subscriptions/{id}'),
  has_vpn_subscription_list: exists('GET /vpn/subscriptions'),
  has_openapi_download: exists('GET /openapi.json'),
  has_sandbox_simulation: exists('POST /esims/{id}/simulate, in the sandbox,'),
  has_webhook_secret: exists('POST /webhook-secret and its rotation'),
  public_without_token: z.boolean().meta({
    description: 'GET /public/packages and GET /openapi.json need no token. If not, only the logins need none.',
  }),
  refusal_is_error: z.boolean().meta({
    description:
      'A cancellation that is refused is answered 422 cancellation_refused. If not, 200 with a refused refund.',
  }),
  secret_rotates_after_ms: z.int().nonnegative().meta({
    description: 'Milliseconds after a rotation in which the old webhook secret still signs.',
  }),
  debits_visible_after_ms: z.int().nonnegative().meta({
    description: 'Age in milliseconds from which GET /wallet and GET /wallet/transactions show a debit.',
  }),
  wallet_filter_shift_ms: z.int().meta({
    description: 'Milliseconds by which `since` is taken later than it was sent, as by a service in another time zone.',
  }),
  wallet_filter_edge_ms: z
    .int()
    .positive()
    .nullable()
    .meta({
      description:
        'The edge of `since` is exclusive: movements of the same second, day or other period of this length, in ' +
        'milliseconds, are omitted. Null: the edge is inclusive.',
    }),
  clock_offset_ms: z.int().meta({
    description:
      "Milliseconds by which the service's clock, and all times that it states, are ahead; negative: behind.",
  }),
  wallet_list_cached_ms: z.int().nonnegative().meta({
    description: 'GET /wallet/transactions is made anew only once in this many milliseconds. The balance is current.',
  }),
  wallet_rows_after_ms: z.int().nonnegative().meta({
    description: 'Age in milliseconds from which GET /wallet/transactions shows a movement. The balance is current.',
  }),
  wallet_keeps_newest: z.int().positive().nullable().meta({
    description: 'GET /wallet/transactions has only the newest movements, this many, and looks complete; null: all.',
  }),
  wallet_keeps_oldest: z.int().positive().nullable().meta({
    description: 'GET /wallet/transactions has only the oldest movements, this many, and looks complete; null: all.',
  }),
  wallet_newest_first: z.boolean().meta({
    description: 'GET /wallet/transactions begins with the newest movement. If not, with the oldest.',
  }),
  wallet_others_move_ms: z
    .int()
    .nonnegative()
    .nullable()
    .meta({
      description:
        'A movement of another system follows a reading of GET /wallet/transactions, at most once in this many ' +
        'milliseconds; null: never.',
    }),
  wallet_other_currency: z.boolean().meta({
    description: 'Movements of the other system are in a second currency, and the balance does not contain them.',
  }),
  wallet_amounts: z.enum(['decimal', 'cents']).meta({
    description: 'Amounts of GET /wallet and GET /wallet/transactions: 2.40, or 240. Prices are decimal in both.',
  }),
  wallet_currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .meta({ description: 'Currency of GET /wallet and GET /wallet/transactions. Prices are in USD.' }),
  credits_pending_for_ms: z.int().nonnegative().meta({
    description: 'Age in milliseconds below which a credit has the status pending. Zero: movements have no status.',
  }),
  resigns_retries: z.boolean().meta({
    description: 'A repeated delivery gets a new timestamp and signature. If not, it keeps those of the first attempt.',
  }),
  event_in_body: z.boolean().meta({
    description: 'The body of a webhook names its event. If not, only the header does.',
  }),
});

export type Dialect = z.output<typeof dialectProperties>;

/** The specification does not show the paths of these calls. */
function assumedCalls(exist: boolean) {
  const names = [...dialectProperties.keyof().options].filter((name) => name.startsWith('has_'));
  return Object.fromEntries(names.map((name) => [name, exist])) as Record<`has_${AssumedCall}`, boolean>;
}

/** `key_replay` is no call. */
type AssumedCall = Exclude<NonNullable<EndpointContract['capability']>, 'key_replay'>;

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
  const { capability, sandboxOnly }: EndpointContract = ENDPOINTS[name];
  if (sandboxOnly === true && environment === 'production') return false;
  return capability === undefined || capability === 'key_replay' || dialect[`has_${capability}`];
}

export function needsToken(name: EndpointName, dialect: Dialect): boolean {
  const { withoutToken }: EndpointContract = ENDPOINTS[name];
  return name !== 'login' && (withoutToken !== true || !dialect.public_without_token);
}
