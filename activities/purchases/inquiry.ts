import type { Listing, OptionalResult } from '#upstream/client/calls.ts';
import { noteOf } from '#activities/work-context.ts';
import type { Inquiry } from '#activities/purchases/kind.ts';

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
  if (!list.ok) {
    if (list.kind === 'failure') return { kind: 'unavailable', failure: noteOf(list) };
    return drift(`This service offers no way to look ${noun} up.`);
  }
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

function drift(detail: string): Inquiry<never> {
  return { kind: 'unavailable', failure: { class: 'contract_drift', detail } };
}
