import { invalid } from '#api/problems/problem.ts';
import type { PagePosition } from '#db/lists/pages.ts';
import { type IdKind, isId } from '#domain/work/identifiers.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/** The position of the last item of a page, as an opaque text without secrets. It is checked when it is used. */
export interface Cursor<Position> {
  readonly write: (last: Position) => string;
  /** @throws Problem validation_failed */
  readonly read: (cursor: string) => Position;
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
} as const;

export type ListKind = WorkKind | 'orderBatch' | 'refund' | 'esim' | 'pricingRule';

export function positionCursor(kind: ListKind): Cursor<PagePosition> {
  return timeCursor(LETTERS[kind], kind, 'createdAt');
}

export const caseCursor = timeCursor('c', 'case', 'openedAt');

export const reconciliationCursor = timeCursor('r', 'reconciliation', 'startedAt');

function timeCursor<Time extends string>(letter: string, kind: IdKind, time: Time): Cursor<PagePosition<Time>> {
  return {
    write: (last) => encode(`${letter}.${last[time].getTime()}.${last.id}`),
    read: (cursor) => {
      const [, found, milliseconds = '', id = ''] = /^(\w)\.([0-9]{1,15})\.(\w+)$/.exec(decode(cursor)) ?? [];
      if (found !== letter || !isId(kind, id)) throw notOurs();
      // The one property that the type names.
      return { [time]: new Date(Number(milliseconds)), id } as PagePosition<Time>;
    },
  };
}

export function idCursor(kind: IdKind): Cursor<string> {
  return {
    write: (id) => encode(`i.${id}`),
    read: (cursor) => {
      const id = /^i\.(\w+)$/.exec(decode(cursor))?.[1] ?? '';
      if (!isId(kind, id)) throw notOurs();
      return id;
    },
  };
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

export function numberCursor(list: NumberedList, place: CursorPlace = 'query'): Cursor<bigint> {
  // Versions are 32 bits long, all others 64.
  const form = new RegExp(`^${list}\\.([0-9]{1,${list === 'g' ? 9 : 18}})$`);
  return {
    write: (last) => encode(`${list}.${last}`),
    read: (cursor) => {
      const digits = form.exec(decode(cursor))?.[1];
      if (digits === undefined) throw notOurs(place);
      return BigInt(digits);
    },
  };
}

/** By types of PostgreSQL. */
const KEY_FORMS = {
  text: /^[A-Z]{3}$/,
  boolean: /^(?:true|false)$/,
  bigint: /^[0-9]{1,18}$/,
  numeric: /^-?[0-9]{1,21}(?:\.[0-9]{1,6})?$/,
  float8: /^-?(?:Infinity|[0-9]{1,17}(?:\.[0-9]{1,17})?(?:e[+-]?[0-9]{1,2})?)$/, // Within the range of float8.
} as const;

/** A list that the caller orders: of another order it is not one of ours. */
export function sortedCursor(
  list: 'p' | 'l',
  sort: string,
  types: readonly (keyof typeof KEY_FORMS)[],
): Cursor<readonly string[]> {
  return {
    write: (keys) => encode([list, sort, ...keys].join(' ')),
    read: (cursor) => {
      const [letter, order, ...keys] = decode(cursor).split(' ');
      const isOurs = letter === list && order === sort && keys.length === types.length;
      if (!isOurs || !types.every((type, index) => KEY_FORMS[type].test(keys[index] ?? ''))) throw notOurs();
      return keys;
    },
  };
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
