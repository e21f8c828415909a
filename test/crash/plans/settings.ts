/** The services of the proof, the configuration of the product for each, and the work that must succeed there. */
import { capabilities, type Capability, type ProfileItem } from '#domain/service/capability-profile.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import { type DialectName, dialectNames } from '#simulator/behaviour/dialect.ts';
import type { ShapeName } from '#simulator/shapes/shape.ts';
import type { NamedSettings } from '#test/support/servers/policy-files.ts';
import { WORKING_SHAPES } from '#test/support/shapes.ts';

/**
 * The configuration that an operator would choose for a service: `SERVICE_MISSING_CAPABILITIES`, policy, and the
 * profile that the tour measures.
 */
interface DialectSetUp {
  /** Properties of the dialect, shortened for a run of seconds. */
  readonly properties?: Readonly<Record<string, number | boolean>>;
  readonly without?: readonly Capability[];
  /** Items of the profile that the tour does not find to be true. */
  readonly lacks?: readonly ProfileItem[];
  readonly policy?: NamedSettings;
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
  // Keys live a little longer than the window for resends and the deadline of a send. A later resend buys again.
  forgets_keys: {
    properties: { key_retention_ms: 6_000 },
    policy: { 'purchase.resend_window': '1500ms' },
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
  // The wallet is read after every debit is visible.
  late_debits: {
    properties: { debits_visible_after_ms: 700 },
    policy: { 'purchase.settle_delay': '1500ms', 'purchase.unseen_debit_delay': '1500ms' },
    lacks: ['debits_at_once'],
  },
  same_signature: {},
  open_reads: {},
  refusals_as_errors: {},
  late_rotation: {},
  silent_bodies: {},
  // Shifts and errors of clocks are longer than a seed, as they are longer than a purchase.
  filter_ahead: {},
  filter_behind: {},
  exclusive_filter: {},
  clock_ahead: {},
  clock_behind: {},
  // Longer than all other waits before the wallet is judged: the first readings lack the newest debits.
  cached_list: { properties: { wallet_list_cached_ms: 4_000 }, lacks: ['debits_at_once'] },
  late_rows: { properties: { wallet_rows_after_ms: 4_000 }, lacks: ['debits_at_once'] },
  // Fewer than the movements of a seed.
  newest_rows_only: {},
  oldest_rows_only: {},
  oldest_first: {},
  // Every movement of another system becomes a case; one at each reading would hide the others.
  others_move: { properties: { wallet_others_move_ms: 500 } },
  other_currency: { properties: { wallet_others_move_ms: 500 } },
};

/** These services do not mark the end of a list, so a list proves no absence. */
const OPEN_LISTS: ReadonlySet<ShapeName> = new Set(['bare_array', 'link_header', 'silent_lists']);
/** Refusals of these services contain no code, so the result of an earlier send stays unknown. */
const NO_CODES: ReadonlySet<ShapeName> = new Set([
  'message_errors',
  'field_errors',
  'html_errors',
  'empty_errors',
  'framework',
]);

/**
 * Shapes that the proof does not use. One differs only in the login. The answers of two contain no price, so the
 * journal is complete only after the next comparison of the books, for which no audit waits.
 */
export const SHAPES_LEFT_OUT: readonly ShapeName[] = ['null_bearer', 'missing_optionals', 'null_optionals'];

/** 35 shapes. 35 has no common divisor with the numbers of dialects and capabilities. */
const shapes = WORKING_SHAPES.filter((name) => !SHAPES_LEFT_OUT.includes(name));

export interface Setting {
  readonly dialect: DialectName;
  /** The form of the service's answers and events. */
  readonly shape: ShapeName;
  readonly properties: Readonly<Record<string, number | boolean>>;
  /** The capability that is switched off, in addition to those that the dialect lacks. */
  readonly off: Capability | 'none';
  /** Value of `SERVICE_MISSING_CAPABILITIES`. */
  readonly without: readonly Capability[];
  readonly lacks: readonly ProfileItem[];
  readonly policy: NamedSettings;
}

const OFF = ['none', ...capabilities] as const;

/**
 * The setting of a seed. The numbers of dialects, shapes and capabilities (with `none`) have no common divisor. So the
 * product of two of these numbers is the number of consecutive seeds that cover each pair once.
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

/**
 * With these services the balance cannot be compared with the movements: some are missing, others change the balance
 * meanwhile or are in another currency. Only a later purchase may prove that a failure cost nothing.
 */
const NO_COMPARISON: ReadonlySet<DialectName> = new Set([
  'newest_rows_only',
  'oldest_rows_only',
  'others_move',
  'other_currency',
]);

export interface WorkOutcome {
  readonly kind: WorkKind;
  /** The result of its item at the service. */
  readonly nature: 'sold' | 'fails' | 'fails_once';
  /** A send of it had an unknown outcome. */
  readonly anyUnknown: boolean;
  /** An attempt with such a send never reached the service. */
  readonly neverArrived: boolean;
  /** The product received a readable event of its completion. */
  readonly reported: boolean;
}

const LOOK_UPS: Readonly<Record<WorkKind, { readonly read: Capability; readonly list: Capability }>> = {
  order: { read: 'order_read', list: 'order_list' },
  topup: { read: 'topup_read', list: 'topup_list' },
  vpn_subscription: { read: 'vpn_subscription_read', list: 'vpn_subscription_list' },
  cancellation: { read: 'refund_read', list: 'refund_list' },
};

/** Why a piece of work need not succeed with a service; undefined if it must succeed. */
export function obstacle(
  { dialect, without, lacks, policy, shape, losesCommits = false }: Setting & { readonly losesCommits?: boolean },
  facts: WorkOutcome,
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
  if (facts.nature === 'fails_once' && NO_COMPARISON.has(dialect))
    return 'balance and movements cannot be compared, so a failure is not proven to cost nothing';
  if (facts.reported) return undefined;
  if (NO_CODES.has(shape) && facts.anyUnknown)
    return 'a refusal without a code does not tell what became of an earlier send';
  const { read, list } = LOOK_UPS[facts.kind];
  const forbidden = lacks.some(
    (item) => item === 'key_replay' || item === 'key_retention' || item === 'key_serialised',
  );
  // A window of 1.5 seconds ends before the timeout that detects a killed worker.
  const resends = can('key_replay') && !forbidden && policy['purchase.resend_window'] === undefined;
  if (facts.anyUnknown && !can(list) && !resends)
    return 'an answer was lost, and the service can neither be asked nor sent the same again';
  if (facts.neverArrived && !resends)
    return 'a send was lost on its way: nothing proves that, and the same may not be sent again';
  if (!can(read) && !can(list)) return 'the service was not heard of, and cannot be asked';
  return undefined;
}
