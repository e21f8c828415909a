/** An opaque text without secrets. It is checked when it is used. */
import { invalid } from '#api/problems/problem.ts';
import type { PagePosition } from '#db/lists/pages.ts';
import type { ReconciliationPosition } from '#db/money/reconciliations.ts';
import type { CasePosition } from '#db/work/cases.ts';
import { type IdKind, isId } from '#domain/work/identifiers.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

export type ListKind = WorkKind | 'orderBatch' | 'refund' | 'esim' | 'pricingRule';

export function positionCursor(kind: ListKind, { createdAt, id }: PagePosition): string {
  return encode(`${LETTERS[kind]}.${createdAt.getTime()}.${id}`);
}

/** @throws Problem validation_failed */
export function readPositionCursor(kind: ListKind, cursor: string): PagePosition {
  const [, letter, milliseconds = '', id = ''] = /^(\w)\.([0-9]{1,15})\.(\w+)$/.exec(decode(cursor)) ?? [];
  if (letter !== LETTERS[kind] || !isId(kind, id)) throw notOurs();
  return { createdAt: new Date(Number(milliseconds)), id };
}

const LETTERS = {
  order: 'o',
  topup: 'u',
  vpn_subscription: 'v',
  cancellation: 'x',
  orderBatch: 'b',
  refund: 'r',
  esim: 'e',
  pricingRule: 'g',
} as const satisfies Record<ListKind, string>;

export function idCursor(id: string): string {
  return encode(`i.${id}`);
}

/** @throws Problem validation_failed */
export function readIdCursor(kind: IdKind, cursor: string): string {
  const id = /^i\.(\w+)$/.exec(decode(cursor))?.[1] ?? '';
  if (!isId(kind, id)) throw notOurs();
  return id;
}

export function caseCursor({ openedAt, id }: CasePosition): string {
  return encode(`c.${openedAt.getTime()}.${id}`);
}

/** @throws Problem validation_failed */
export function readCaseCursor(cursor: string): CasePosition {
  const [, milliseconds = '', id = ''] = /^c\.([0-9]{1,15})\.(\w+)$/.exec(decode(cursor)) ?? [];
  if (!isId('case', id)) throw notOurs();
  return { openedAt: new Date(Number(milliseconds)), id };
}

export function reconciliationCursor({ startedAt, id }: ReconciliationPosition): string {
  return encode(`r.${startedAt.getTime()}.${id}`);
}

/** @throws Problem validation_failed */
export function readReconciliationCursor(cursor: string): ReconciliationPosition {
  const [, milliseconds = '', id = ''] = /^r\.([0-9]{1,15})\.(\w+)$/.exec(decode(cursor)) ?? [];
  if (!isId('reconciliation', id)) throw notOurs();
  return { startedAt: new Date(Number(milliseconds)), id };
}

/**
 * Timelines, journal, movements without a row in it, audit log, pricing rules, events, dead letters (inbox, outbox).
 */
type NumberedList = 't' | 'j' | 'm' | 'a' | 'g' | 'v' | 'd' | 'b';

const CURSOR_PLACES = {
  query: { in: 'query', field: 'cursor' },
  header: { in: 'header', field: 'Last-Event-ID' },
} as const;

type CursorPlace = keyof typeof CURSOR_PLACES;

export function numberCursor(list: NumberedList, last: bigint): string {
  return encode(`${list}.${last}`);
}

/** @throws Problem validation_failed */
export function readNumberCursor(list: NumberedList, cursor: string, place: CursorPlace = 'query'): bigint {
  // Versions are 32 bits long, all others 64.
  const most = list === 'g' ? 9 : 18;
  const digits = new RegExp(`^${list}\\.([0-9]{1,${most}})$`).exec(decode(cursor))?.[1];
  if (digits === undefined) throw notOurs(place);
  return BigInt(digits);
}

/** By types of PostgreSQL. */
const KEY_FORMS = {
  text: /^[A-Z]{3}$/,
  boolean: /^(?:true|false)$/,
  bigint: /^[0-9]{1,18}$/,
  numeric: /^-?[0-9]{1,21}(?:\.[0-9]{1,6})?$/,
  float8: /^-?(?:Infinity|[0-9]{1,17}(?:\.[0-9]{1,17})?(?:e[+-]?[0-9]{1,2})?)$/, // Within the range of float8.
} as const;

export function sortedCursor(list: 'p' | 'l', sort: string, keys: readonly string[]): string {
  return encode([list, sort, ...keys].join(' '));
}

/** @throws Problem validation_failed when it is not one of ours, or of another order. */
export function readSortedCursor(
  list: 'p' | 'l',
  sort: string,
  types: readonly (keyof typeof KEY_FORMS)[],
  cursor: string,
): readonly string[] {
  const [letter, order, ...keys] = decode(cursor).split(' ');
  const isOurs = letter === list && order === sort && keys.length === types.length;
  if (!isOurs || !types.every((type, index) => KEY_FORMS[type].test(keys[index] ?? ''))) throw notOurs();
  return keys;
}

function encode(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64url');
}

/** Accepts only text that encodes back to itself: base64 decoders ignore invalid characters. */
function decode(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  return encode(text) === cursor ? text : '';
}

function notOurs(place: CursorPlace = 'query') {
  return invalid([{ ...CURSOR_PLACES[place], message: 'is not a cursor of this list' }]);
}
