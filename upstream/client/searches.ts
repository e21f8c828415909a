import { isFormOf } from '#domain/work/identifiers.ts';
import type { ItemOf, ListName } from '#upstream/client/call.ts';
import type { Calls, OptionalName, OptionalResult } from '#upstream/client/calls.ts';
import type { Listing } from '#upstream/client/listing.ts';

/** Limits of a read of the newest items of a list. */
export interface Recent {
  /** Epoch milliseconds. The first page with an older item is the last one read. */
  readonly since: number;
  /** Maximum number of pages. */
  readonly maxPages: number;
}

/**
 * Reads the newest items of a list, without a filter.
 *
 * @param timeOf the creation time of an item, or a later time of it; undefined when it has none.
 */
export async function listRecent<Name extends OptionalName & ListName>(
  calls: Calls,
  endpoint: Name,
  { since, maxPages }: Recent,
  timeOf: (item: ItemOf<Name>) => string | null | undefined,
): Promise<OptionalResult<Listing<ItemOf<Name>>>> {
  const isOlder = (item: ItemOf<Name>) => Date.parse(timeOf(item) ?? '') < since;
  return await calls.optionalList(endpoint, { maxPages, isEnough: (page) => page.some(isOlder) });
}

// One reference has one order, and one eSIM has few top-ups. More pages mean that the service ignores the filter.
const MAX_PAGES_OF_A_FILTER = 5;

/**
 * Finds the items with this value in one field, also when the service ignores the filter. An item that may be a match,
 * although the field is absent or has another form of the value, is not found, but the listing is then not complete.
 */
export async function findBy<Name extends OptionalName & ListName>(
  calls: Calls,
  endpoint: Name,
  field: keyof ItemOf<Name> & string,
  value: string,
): Promise<OptionalResult<Listing<ItemOf<Name>>>> {
  const result = await calls.optionalList(endpoint, { filter: { [field]: value }, maxPages: MAX_PAGES_OF_A_FILTER });
  if (!result.ok) return result;
  const all = result.value.items;
  const items = all.filter((item) => item[field] === value);
  const mayBeMeant = all.some((item) => mayBeOtherForm(value, item[field]));
  const complete = result.value.complete && !mayBeMeant && !(items.length === 0 && isOneEsim(field, all));
  return { ...result, value: { items, complete } };
}

/** @param theirs the value of an item. */
function mayBeOtherForm(value: string, theirs: unknown): boolean {
  if (typeof theirs !== 'string') return true;
  // The reference of an earlier attempt is the beginning of ours.
  return theirs !== value && !value.startsWith(`${theirs}~`) && isFormOf(value, theirs);
}

/** True when a list may be filtered by the eSIM that was asked for, and names it by another id of its own. */
function isOneEsim<Item>(field: keyof Item & string, items: readonly Item[]): boolean {
  return field === 'esim_id' && new Set(items.map((item) => item[field])).size === 1;
}
