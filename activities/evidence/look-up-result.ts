import { sinceFirstSend } from '#activities/purchases/purchase-facts.ts';
import type { Found, Inquiry, ManyInquiries } from '#activities/purchases/purchase-kind.ts';
import { noteOf } from '#activities/work/work-dependencies.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { Listing, OptionalResult } from '#upstream/client/calls.ts';

/** What a list is asked for, and how a sentence names what it holds. */
interface Search<Item> {
  readonly found: (item: Item) => Found<Item>;
  /** `orders`, … */
  readonly noun: string;
}

/**
 * Reads what the service answered to the id that we know.
 *
 * @returns undefined when it has no such call or knows no such id: it may have been told to us wrongly, and a list may
 *   find it.
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

/** As {@link Search}, in a list that was not filtered for one attempt. */
interface WideSearch<Item, Attempt> {
  /** Undefined where more has to be asked than what the item says. */
  readonly found: (item: Item, attempt: Attempt) => Found | undefined;
  readonly noun: string;
}

/**
 * Finds many attempts in a list that was not filtered, by the service's id or by our reference. One that the list shows
 * more than once is left to be asked about on its own, where that is judged.
 */
export function inquiriesOf<Item, Attempt extends Pick<AttemptRow, 'id' | 'serviceId' | 'reference'>>(
  list: OptionalResult<Listing<Item>>,
  attempts: readonly Attempt[],
  search: WideSearch<Item, Attempt> & {
    readonly namesOf: (item: Item) => { readonly id: string; readonly reference?: string | null | undefined };
  },
): ManyInquiries {
  if (!list.ok) return unread(list, search.noun);
  // By id, since a list that grows while it is read may show one item on two pages.
  const items = new Map(list.value.items.map((item) => [search.namesOf(item).id, item]));
  const byReference = Map.groupBy(items.values(), (item) => search.namesOf(item).reference ?? null);
  return matched(attempts, search, ({ serviceId, reference }) => {
    const named = reference === null ? [] : (byReference.get(reference) ?? []);
    const known = serviceId === null ? undefined : items.get(serviceId);
    return [...new Set(known === undefined ? named : [...named, known])];
  });
}

/** What of an item that carries no reference of ours tells which attempt it may be of. */
interface ItemOfEsim {
  readonly id: string;
  readonly esim_id?: string | null | undefined;
  readonly created_at?: string | null | undefined;
}

type AttemptOfEsim = Pick<AttemptRow, 'id' | 'serviceId' | 'serviceEsimId' | 'firstSentAt' | 'createdAt'>;

/**
 * Finds many attempts in a list that was not filtered and carries no reference of ours: by the service's id, else by
 * the eSIM. By the eSIM only where nothing else can be the attempt's: the list goes back to its first send, and shows
 * one item that may be it and may be no other's. All else is left to be asked about on its own.
 *
 * @param search.mayBe false for an item that is another's, or cannot be the attempt's whatever its eSIM.
 */
export function inquiriesByEsim<Item extends ItemOfEsim, Attempt extends AttemptOfEsim>(
  list: OptionalResult<Listing<Item>>,
  attempts: readonly Attempt[],
  search: WideSearch<Item, Attempt> & { readonly mayBe: (attempt: Attempt, item: Item) => boolean },
): ManyInquiries {
  if (!list.ok) return unread(list, search.noun);
  const items = new Map(list.value.items.map((item) => [item.id, item]));
  const byEsim = Map.groupBy(items.values(), ({ esim_id: esimId }) => esimId ?? null);
  // It may be of any.
  const ofNoEsim = byEsim.get(null) ?? [];
  const { complete } = list.value;
  const goesBackTo = complete ? -Infinity : Math.min(...timesOf(items.values()));
  const candidatesOf = (attempt: Attempt): readonly Item[] => {
    if (attempt.serviceId !== null) return [items.get(attempt.serviceId)].filter((item) => item !== undefined);
    if (attempt.serviceEsimId === null || goesBackTo >= sinceFirstSend(attempt)) return [];
    if (ofNoEsim.some((item) => search.mayBe(attempt, item))) return [];
    return (byEsim.get(attempt.serviceEsimId) ?? []).filter((item) => search.mayBe(attempt, item));
  };
  const candidates = new Map(attempts.map((attempt) => [attempt.id, candidatesOf(attempt)]));
  const claims = Map.groupBy([...candidates.values()].flat(), ({ id }) => id);
  return matched(attempts, search, ({ id }) => {
    const all = candidates.get(id) ?? [];
    return all.some((item) => claims.get(item.id)?.length !== 1) ? [] : all;
  });
}

function timesOf(items: Iterable<ItemOfEsim>): number[] {
  return [...items].flatMap(({ created_at: at }) => (at == null ? [] : [Date.parse(at)]));
}

/** @param candidates what an attempt may be; found is only one that is alone. */
function matched<Item, Attempt extends Pick<AttemptRow, 'id'>>(
  attempts: readonly Attempt[],
  { found }: WideSearch<Item, Attempt>,
  candidates: (attempt: Attempt) => readonly Item[],
): ManyInquiries {
  const inquiries = new Map<string, Found>();
  for (const attempt of attempts) {
    const [item, another] = candidates(attempt);
    const inquiry = item === undefined || another !== undefined ? undefined : found(item, attempt);
    if (inquiry !== undefined) inquiries.set(attempt.id, inquiry);
  }
  return { kind: 'read', inquiries };
}

function unread<Item>(
  list: Exclude<OptionalResult<Listing<Item>>, { ok: true }>,
  noun: string,
): Extract<Inquiry, { kind: 'unavailable' }> {
  if (list.kind === 'failure') return { kind: 'unavailable', failure: noteOf(list) };
  return drift(`This service offers no way to look ${noun} up.`);
}

function drift(detail: string): Extract<Inquiry, { kind: 'unavailable' }> {
  return { kind: 'unavailable', failure: { class: 'contract_drift', detail } };
}
