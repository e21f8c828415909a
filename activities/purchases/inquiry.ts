import type { Listing, OptionalResult } from '#upstream/client/calls.ts';
import { noteOf } from '#activities/work-context.ts';
import type { AttemptRow } from '#db/attempts.ts';
import type { Inquiry, ManyInquiries } from '#activities/purchases/kind.ts';

/** What a list is asked for, and how a sentence names what it holds. */
interface Search<Item> {
  readonly found: (item: Item) => Extract<Inquiry<Item>, { kind: 'found' }>;
  /** `orders`, … */
  readonly noun: string;
}

/**
 * Reads what the service answered to the id that we know.
 *
 * @returns undefined when it has no such call or knows no such id: it may have been told to us wrongly, and a list may find it.
 */
export function inquiryById<Item>(read: OptionalResult<Item>, found: Search<Item>['found']): Inquiry<Item> | undefined {
  if (read.ok) return found(read.value);
  return read.kind === 'failure' && read.status !== 404 ? { kind: 'unavailable', failure: noteOf(read) } : undefined;
}

/**
 * Reads a list that was filtered for one attempt. Exactly one item is it; none proves something only where the list is
 * complete; several are never chosen from.
 */
export function inquiryOf<Item>(list: OptionalResult<Listing<Item>>, { found, noun }: Search<Item>): Inquiry<Item> {
  if (!list.ok) return unread(list, noun);
  const { items, complete } = list.value;
  const [item, another] = items;
  if (item !== undefined && another === undefined) return found(item);
  if (item === undefined && complete) return { kind: 'not_found' };
  return drift(
    another === undefined
      ? `The service lists more ${noun} than can be searched.`
      : `The service lists ${items.length} ${noun} for one attempt: it may have bought more than once.`,
  );
}

/**
 * Finds many attempts in a list that was not filtered. One that the list shows more than once is left to be asked about on
 * its own, where that is judged.
 */
export function inquiriesOf<Item>(
  list: OptionalResult<Listing<Item>>,
  attempts: readonly Pick<AttemptRow, 'id' | 'serviceId' | 'reference'>[],
  search: Search<Item> & { readonly namesOf: (item: Item) => { readonly id: string; readonly reference?: string | null | undefined } },
): ManyInquiries {
  if (!list.ok) return unread(list, search.noun);
  // By id, since a list that grows while it is read may show one item on two pages.
  const items = new Map(list.value.items.map((item) => [search.namesOf(item).id, item]));
  const byReference = Map.groupBy(items.values(), (item) => search.namesOf(item).reference ?? null);
  const inquiries = new Map<string, ReturnType<typeof search.found>>();
  for (const { id, serviceId, reference } of attempts) {
    const named = reference === null ? [] : (byReference.get(reference) ?? []);
    const known = serviceId === null ? undefined : items.get(serviceId);
    const all = new Set(known === undefined ? named : [...named, known]);
    const [item] = all;
    if (item !== undefined && all.size === 1) inquiries.set(id, search.found(item));
  }
  return { kind: 'read', inquiries };
}

function unread<Item>(list: Exclude<OptionalResult<Listing<Item>>, { ok: true }>, noun: string): Extract<Inquiry, { kind: 'unavailable' }> {
  if (list.kind === 'failure') return { kind: 'unavailable', failure: noteOf(list) };
  return drift(`This service offers no way to look ${noun} up.`);
}

function drift(detail: string): Extract<Inquiry, { kind: 'unavailable' }> {
  return { kind: 'unavailable', failure: { class: 'contract_drift', detail } };
}
