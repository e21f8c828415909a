/** The services that the proof runs against, how the product is set up for each, and what each lets succeed. */
import { capabilities, type Capability } from '#domain/service/capabilities.ts';
import type { ProfileItem } from '#domain/service/capability-profile.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import { dialectNames, type DialectName } from '#simulator/behaviour/dialect.ts';
import type { ShapeName } from '#simulator/shapes/shape.ts';
import { WORKING_SHAPES } from '#test/support/shapes.ts';

/**
 * What an operator tells the product of a service: by `SERVICE_MISSING_CAPABILITIES`, policy, and the profile that the tour
 * measures.
 */
interface DialectSetUp {
  /** Single points of the dialect, shortened to what a run of seconds can reach. */
  readonly properties?: Readonly<Record<string, number | boolean>>;
  readonly without?: readonly Capability[];
  /** What the tour finds otherwise than true. */
  readonly lacks?: readonly ProfileItem[];
  readonly policy?: Readonly<Record<string, string>>;
}

const NO_LOOK_UP = [
  'order_read',
  'order_list',
  'wallet_transactions',
  'topup_read',
  'topup_list',
  'refund_read',
  'refund_list',
  'vpn_subscription_read',
  'vpn_subscription_list',
] as const satisfies readonly Capability[];

const SET_UPS: Readonly<Record<DialectName, DialectSetUp>> = {
  replays: {},
  conflicts: { lacks: ['key_replay'] },
  // Keys outlive the window for resends and the deadline of a send, and little more: what is sent again later buys
  // again.
  forgets_keys: {
    properties: { key_retention_ms: 6_000 },
    policy: { POLICY_RESEND_WINDOW: '1500ms' },
    lacks: ['reference_unique'],
  },
  ignores_keys: { lacks: ['key_replay', 'key_retention', 'key_serialised', 'reference_unique'] },
  balance_first: {},
  stores_refusals: {},
  concurrent_keys: { lacks: ['key_serialised'] },
  reusable_references: { lacks: ['reference_unique'] },
  no_order_read: { without: ['order_read'] },
  no_lookup: { without: NO_LOOK_UP },
  bare: { without: capabilities.filter((name) => name !== 'key_replay') },
  // The wallet is read later than a debit can show.
  late_debits: {
    properties: { debits_visible_after_ms: 700 },
    policy: { POLICY_SETTLE_DELAY: '1500ms' },
    lacks: ['debits_at_once'],
  },
  same_signature: {},
  open_reads: {},
  refusals_as_errors: {},
  late_rotation: {},
  silent_bodies: {},
};

/**
 * Lists of these do not say that they have ended, as long as they fit into one page or at all: they prove no absence.
 */
const OPEN_LISTS: ReadonlySet<ShapeName> = new Set(['bare_array', 'link_header', 'silent_lists']);
/** Refusals of these name no code, so that what only a code tells is not known. */
const NO_CODES: ReadonlySet<ShapeName> = new Set([
  'message_errors',
  'field_errors',
  'html_errors',
  'empty_errors',
  'framework',
]);

/**
 * Left out: one that differs in the login alone, and two whose answers name no price, so that the journal is complete
 * only after the next comparison of the books, which no audit waits for.
 */
export const SHAPES_LEFT_OUT: readonly ShapeName[] = ['null_bearer', 'missing_optionals', 'null_optionals'];

/** Thirty-five, which has no divisor in common with the other numbers. */
const shapes = WORKING_SHAPES.filter((name) => !SHAPES_LEFT_OUT.includes(name));

export interface Setting {
  readonly dialect: DialectName;
  /** How the answers and events of the service look. */
  readonly shape: ShapeName;
  readonly properties: Readonly<Record<string, number | boolean>>;
  /** The capability that is switched off beside those that the dialect lacks. */
  readonly off: Capability | 'none';
  /** Of `SERVICE_MISSING_CAPABILITIES`. */
  readonly without: readonly Capability[];
  readonly lacks: readonly ProfileItem[];
  readonly policy: Readonly<Record<string, string>>;
}

const OFF = ['none', ...capabilities] as const;

/**
 * The setting of a seed. The numbers of dialects, of shapes and of what is switched off have no common divisor, so that
 * as many seeds as the product of two of them meet each pair once; in any run of seeds they turn evenly.
 */
export function settingOf(seed: number): Setting {
  const dialect = dialectNames[seed % dialectNames.length] ?? 'replays';
  return setting(dialect, OFF[seed % OFF.length] ?? 'none', shapes[seed % shapes.length] ?? 'plain');
}

export function setting(dialect: DialectName, off: Setting['off'] = 'none', shape: ShapeName = 'plain'): Setting {
  const { properties = {}, without = [], lacks = [], policy = {} } = SET_UPS[dialect];
  const all = [...new Set([...without, ...(off === 'none' ? [] : [off])])];
  return { dialect, shape, properties, off, without: all, lacks, policy };
}

/** What is known of a piece of work at its end, on both sides. */
export interface WorkFacts {
  readonly kind: WorkKind;
  /** What its item does: `fails` each time, or `fails_once`. */
  readonly nature: 'sold' | 'fails' | 'fails_once';
  /** A send of it ended without proof. */
  readonly anyUnknown: boolean;
  /** The service has never heard of an attempt of which a send ended so. */
  readonly neverArrived: boolean;
  /** The event that tells of its completion reached us, readable. */
  readonly told: boolean;
}

const LOOK_UPS: Readonly<Record<WorkKind, { readonly read: Capability; readonly list: Capability }>> = {
  order: { read: 'order_read', list: 'order_list' },
  topup: { read: 'topup_read', list: 'topup_list' },
  vpn_subscription: { read: 'vpn_subscription_read', list: 'vpn_subscription_list' },
  cancellation: { read: 'refund_read', list: 'refund_list' },
};

/** Why a service does not let a piece of work succeed for certain; undefined when it does, and so it must. */
export function obstacle(
  {
    without,
    lacks,
    policy,
    shape,
    losesCommits = false,
  }: Pick<Setting, 'without' | 'lacks' | 'policy' | 'shape'> & { readonly losesCommits?: boolean },
  facts: WorkFacts,
): string | undefined {
  const can = (capability: Capability) => !without.includes(capability);
  if (losesCommits) return 'PostgreSQL has lost what it had committed';
  if (facts.kind === 'cancellation') {
    if (OPEN_LISTS.has(shape)) return 'lists that do not say that they have ended do not show that there was no top-up';
    const isJudgeable = can('esim_usage') && can('topup_list') && can('wallet_transactions');
    if (!isJudgeable) return 'the conditions of the refund cannot be read, so nothing is sent';
    if (lacks.includes('debits_at_once')) return 'a debit that shows late is a condition that is not met';
  }
  if (facts.nature === 'fails') return 'the service fails each attempt';
  if (facts.nature === 'fails_once' && !can('wallet_transactions'))
    return 'without wallet transactions nothing proves that a failure cost nothing';
  if (facts.nature === 'fails_once' && OPEN_LISTS.has(shape))
    return 'lists that do not say that they have ended prove no absence';
  if (facts.told) return undefined;
  if (NO_CODES.has(shape) && facts.anyUnknown)
    return 'a refusal without a code does not tell what became of an earlier send';
  const { read, list } = LOOK_UPS[facts.kind];
  const forbidden = lacks.some(
    (item) => item === 'key_replay' || item === 'key_retention' || item === 'key_serialised',
  );
  // A window of a second and a half is over before a killed worker is missed.
  const resends = can('key_replay') && !forbidden && policy['POLICY_RESEND_WINDOW'] === undefined;
  if (facts.anyUnknown && !can(list) && !resends)
    return 'an answer was lost, and the service can neither be asked nor sent the same again';
  if (facts.neverArrived && !resends)
    return 'a send was lost on its way: nothing proves that, and the same may not be sent again';
  if (!can(read) && !can(list)) return 'the service was not heard of, and cannot be asked';
  return undefined;
}
