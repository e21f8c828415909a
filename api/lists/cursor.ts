import { invalid } from '#api/problems/problem.ts';
import type { PagePosition } from '#db/lists/pages.ts';
import type { WalletLine } from '#db/money/journal-queries.ts';
import { type IdKind, isId } from '#domain/work/identifiers.ts';

/** The position of the last item of a page, as an opaque text without secrets. It is checked when it is used. */
export interface Cursor<Position, Last> {
  readonly write: (last: Last) => string;
  /** @throws Problem validation_failed */
  readonly read: (cursor: string, place?: 'query' | 'header') => Position;
}

/** A list accepts no cursor of another one: their letters differ, or the kinds of their ids, or the number of parts. */
export const CURSORS = {
  order: timeCursor('o', 'order', 'createdAt'),
  topup: timeCursor('u', 'topup', 'createdAt'),
  vpn_subscription: timeCursor('v', 'vpn_subscription', 'createdAt'),
  cancellation: timeCursor('x', 'cancellation', 'createdAt'),
  orderBatch: timeCursor('b', 'orderBatch', 'createdAt'),
  refund: timeCursor('r', 'refund', 'createdAt'),
  esim: timeCursor('e', 'esim', 'createdAt'),
  pricingRule: timeCursor('g', 'pricingRule', 'createdAt'),
  case: timeCursor('c', 'case', 'openedAt'),
  reconciliation: timeCursor('r', 'reconciliation', 'startedAt'),
  pause: idCursor('pause'),
  shareLink: idCursor('shareLink'),
  webhookEndpoint: idCursor('webhookEndpoint'),
  webhookDelivery: idCursor('webhookDelivery'),
  timeline: numberCursor('t', ({ id }: Identified<bigint>) => id),
  journal: numberCursor('j', walletLineId),
  movementsWithoutCause: numberCursor('m', walletLineId),
  auditLog: numberCursor('a', ({ entry }: { readonly entry: Identified<bigint> }) => entry.id),
  // Versions are 32 bits long, the other numbers 64.
  pricingRuleVersion: numberCursor('g', ({ version }: { readonly version: number }) => version, 9),
  event: numberCursor('v', (position: bigint) => position),
  inbox: numberCursor('d', ({ row }: { readonly row: Identified<bigint> }) => row.id),
  outbox: numberCursor('b', ({ row }: { readonly row: Identified<bigint> }) => row.id),
} as const;

export function walletLineId({ entry, movement }: WalletLine): bigint {
  return entry === undefined ? movement.id : entry.id;
}

interface Identified<Id> {
  readonly id: Id;
}

function timeCursor<Time extends string>(
  letter: string,
  kind: IdKind,
  time: Time,
): Cursor<PagePosition<Time>, PagePosition<Time> | { readonly row: PagePosition<Time> }> {
  return {
    write: (last) => {
      const position = 'row' in last ? last.row : last;
      return encode(`${letter}.${position[time].getTime()}.${position.id}`);
    },
    read: (cursor) => {
      const [, found, milliseconds = '', id = ''] = /^(\w)\.([0-9]{1,15})\.(\w+)$/.exec(decode(cursor)) ?? [];
      if (found !== letter || !isId(kind, id)) throw notOurs();
      // The one property that the type names.
      return { [time]: new Date(Number(milliseconds)), id } as Record<Time, Date> & Identified<string>;
    },
  };
}

function idCursor(kind: IdKind): Cursor<string, Identified<string> | { readonly delivery: Identified<string> }> {
  return {
    write: (last) => encode(`i.${('delivery' in last ? last.delivery : last).id}`),
    read: (cursor) => {
      const id = /^i\.(\w+)$/.exec(decode(cursor))?.[1] ?? '';
      if (!isId(kind, id)) throw notOurs();
      return id;
    },
  };
}

function numberCursor<Last>(
  letter: string,
  number: (last: Last) => bigint | number,
  digits = 18,
): Cursor<bigint, Last> {
  const form = new RegExp(`^${letter}\\.([0-9]{1,${digits}})$`);
  return {
    write: (last) => encode(`${letter}.${number(last)}`),
    read: (cursor, place) => {
      const found = form.exec(decode(cursor))?.[1];
      if (found === undefined) throw notOurs(place);
      return BigInt(found);
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
): Cursor<readonly string[], { readonly keys: readonly string[] }> {
  return {
    write: ({ keys }) => encode([list, sort, ...keys].join(' ')),
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

function notOurs(place: 'query' | 'header' = 'query') {
  const field = place === 'query' ? 'cursor' : 'Last-Event-ID';
  return invalid([{ in: place, field, message: 'is not a cursor of this list' }]);
}
