import * as z from 'zod';

/**
 * How the real service behaves where the specification is silent, as named properties. The simulator can be each of
 * the services we may meet; the product has to stay money-safe with all of them.
 */
export const dialectProperties = z.strictObject({
  key_replay: z.enum(['replay', 'conflict']).meta({
    description: 'A repeated key with the same body: the stored result again, or 409 idempotency_key_reused.',
  }),
  key_retention_ms: z.int().nonnegative().nullable().meta({
    description: 'How long keys are remembered; null for ever, 0 not at all.',
  }),
  checks_balance_before_key: z.boolean().meta({
    description: 'A repeated key is refused with 402 when the balance no longer covers the price.',
  }),
  stores_4xx: z.boolean().meta({
    description: 'Refusals of a purchase (402, package unavailable, reference exists) are results that the key repeats.',
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
  has_order_read: z.boolean().meta({ description: 'GET /orders/{id} exists.' }),
  has_order_list: z.boolean().meta({ description: 'GET /orders exists.' }),
  has_wallet_transactions: z.boolean().meta({ description: 'GET /wallet/transactions exists.' }),
  debits_visible_after_ms: z.int().nonnegative().meta({
    description: 'Age from which a debit is seen in GET /wallet and GET /wallet/transactions.',
  }),
  resigns_retries: z.boolean().meta({
    description: 'A repeated delivery gets a new timestamp and signature. If not, both stay those of the first try.',
  }),
  event_in_body: z.boolean().meta({
    description: 'The body of a webhook names its event. If not, only the header does.',
  }),
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
  has_order_read: true,
  has_order_list: true,
  has_wallet_transactions: true,
  debits_visible_after_ms: 0,
  resigns_retries: true,
  event_in_body: true,
};

/** The named dialects; the first is the default. Each differs from it by what its name says. */
export const DIALECTS = {
  replays: REPLAYS,
  conflicts: { ...REPLAYS, key_replay: 'conflict' },
  // Without unique references, so that the forgotten key really costs a second debit.
  forgets_keys: { ...REPLAYS, key_retention_ms: 1_000, reference_unique: false },
  ignores_keys: { ...REPLAYS, key_retention_ms: 0, serialises_same_key: false, reference_unique: false },
  balance_first: { ...REPLAYS, checks_balance_before_key: true },
  stores_refusals: { ...REPLAYS, stores_4xx: true },
  concurrent_keys: { ...REPLAYS, serialises_same_key: false, purchase_takes_ms: 50 },
  reusable_references: { ...REPLAYS, reference_unique: false },
  no_order_read: { ...REPLAYS, has_order_read: false },
  no_lookup: { ...REPLAYS, has_order_read: false, has_order_list: false, has_wallet_transactions: false },
  late_debits: { ...REPLAYS, debits_visible_after_ms: 5_000 },
  same_signature: { ...REPLAYS, resigns_retries: false },
  silent_bodies: { ...REPLAYS, event_in_body: false },
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof DIALECTS;

export const dialectNames = Object.keys(DIALECTS) as [DialectName, ...DialectName[]];

/** A named dialect with single properties changed. */
export const dialectChoice = z.strictObject({
  name: z.enum(dialectNames).default('replays'),
  properties: dialectProperties.partial().default({}),
});
export type DialectChoice = z.output<typeof dialectChoice>;

export function dialectOf(choice: DialectChoice): Dialect {
  const changed = Object.fromEntries(Object.entries(choice.properties).filter(([, value]) => value !== undefined));
  return { ...DIALECTS[choice.name], ...changed };
}
