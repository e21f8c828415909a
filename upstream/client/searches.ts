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
 * Finds the items with this value in one field, also when the service ignores the filter. An item without the field may
 * be a match, so the listing is then not complete.
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
  const complete = result.value.complete && all.every((item) => typeof item[field] === 'string');
  return { ...result, value: { items, complete } };
}
