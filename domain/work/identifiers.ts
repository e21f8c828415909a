import type { FinalStatus, WorkStatus } from '#domain/work/lifecycle.ts';

export const ID_PREFIXES = {
  order: 'ord',
  topup: 'top',
  vpn_subscription: 'vpn',
  cancellation: 'can',
  orderBatch: 'bat',
  refund: 'ref',
  attempt: 'att',
  esim: 'esim',
  shareLink: 'link',
  case: 'case',
  action: 'act',
  pause: 'pause',
  apiKey: 'key',
  journalEntry: 'jrn',
  reconciliation: 'rec',
  event: 'evt',
  pricingRule: 'rule',
  webhookEndpoint: 'we',
  webhookDelivery: 'wd',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

const ULID = '[0-9A-HJKMNP-TV-Z]{26}';

export function idPattern(kind: IdKind): string {
  return `^${ID_PREFIXES[kind]}_${ULID}$`;
}

export function isId(kind: IdKind, text: string): boolean {
  return new RegExp(idPattern(kind)).test(text);
}

export function idKindOf(text: string): IdKind | undefined {
  const [prefix] = text.split('_', 1);
  const kinds = Object.keys(ID_PREFIXES) as IdKind[];
  return kinds.find((kind) => ID_PREFIXES[kind] === prefix && isId(kind, text));
}

/**
 * The caller's own at first, else a derived, unique one, so that events and debits can be matched.
 * @param use from 1: work that ended without buying frees its reference.
 */
export function attemptReference(reference: string, use: number, attemptNumber: number): string {
  if (use > 1) return `${reference}~${use}.${attemptNumber}`;
  return attemptNumber === 1 ? reference : `${reference}~${attemptNumber}`;
}

/** The characters of a caller's reference: visible ASCII without `~`, which derived ones have. */
export const CALLER_REFERENCE_CHARACTERS = '[!-}]';

/** Of `external_order_id`, `external_topup_id` and `external_subscription_id`. */
export const MAX_REFERENCE_LENGTH = 64;

const CALLER_REFERENCE = new RegExp(`^${CALLER_REFERENCE_CHARACTERS}{1,${MAX_REFERENCE_LENGTH}}$`);

export function isCallerReference(text: string): boolean {
  return CALLER_REFERENCE.test(text);
}

/** A shorter beginning is shared by references that have nothing in common. */
const SHORTEST_CUT = 8;

/**
 * A match proves nothing, because two of our own references may match: it must never identify, settle or credit a
 * purchase. It only prevents the conclusion that something is absent.
 */
export function looselyNames(ours: string, theirs: string | number | null | undefined): boolean {
  const other = String(theirs ?? '');
  return isFormOf(ours, other) || isFormOf(other, ours);
}

/** It identifies a purchase only in the answer to its own send. */
export function isFormOf(ours: string, theirs: string): boolean {
  const [own, other] = [plain(ours), plain(theirs)];
  if (own === '' || other === '') return false;
  return own === other || (other.length >= SHORTEST_CUT && own.startsWith(other));
}

/** A service that reads a name of digits as a number loses the zeros at its beginning. */
function plain(name: string): string {
  const text = name.trim().toLowerCase();
  return /^\d+$/.test(text) ? text.replace(/^0+(?=.)/, '') : text;
}

/** IMEI as the API accepts it: 14 to 16 digits and nothing else. */
export function isImei(text: string): boolean {
  return /^[0-9]{14,16}$/.test(text);
}

/** They prove that nothing was bought. */
export const FREES_REFERENCE = ['failed', 'abandoned'] as const satisfies readonly FinalStatus[];

export interface ReferenceUse {
  readonly number: number;
  readonly replaces: string | null;
}

export const FIRST_USE: ReferenceUse = { number: 1, replaces: null };

export interface ReferenceHolder {
  readonly id: string;
  readonly status: WorkStatus;
  readonly use: number;
  /** It may have been bought after all. */
  readonly inDoubt: boolean;
  /** It, or the work of an earlier use, has the Idempotency-Key of this request. */
  readonly isOfSameKey: boolean;
}

export function nextUse({ id, status, use, inDoubt, isOfSameKey }: ReferenceHolder): ReferenceUse | undefined {
  const isFree = (FREES_REFERENCE as readonly WorkStatus[]).includes(status) && !inDoubt;
  // A late repetition of the old request must not buy what a person has abandoned since.
  return isFree && !isOfSameKey ? { number: use + 1, replaces: id } : undefined;
}

export const MAX_BATCH = 1_000;

const POSITION_DIGITS = String(MAX_BATCH).length;

/** The references of its orders are longer by their position. */
export const MAX_BATCH_REFERENCE = MAX_REFERENCE_LENGTH - 1 - POSITION_DIGITS;

export const BATCH_ENDS = ['completed', 'failed', 'abandoned'] as const;

export type BatchEnd = (typeof BATCH_ENDS)[number];

/** A caller may give it too: an order that bought nothing can be ordered again by itself. @param position from 1. */
export function batchOrderReference(batchReference: string, position: number): string {
  return `${batchReference}-${String(position).padStart(POSITION_DIGITS, '0')}`;
}
