/** What a look-up at the service finds, and how an attempt is found in its lists. */
import { workOf } from '#db/work/attempts.ts';
import { lockUnfinishedWork, type AttemptRow } from '#db/work/rows.ts';
import type { CompletionResult, NotYetReason } from '#domain/purchase/results.ts';
import type { ObservedOutcome, Report } from '#domain/relay/observation.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import { findMismatch, recordReport, type NotOurs } from '#fulfilment/attempts/report.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { failureNote } from '#fulfilment/purchase/offer.ts';
import type { OptionalResult } from '#upstream/client/calls.ts';
import type { Listing } from '#upstream/client/lists.ts';
import type { ServiceOrder, ServiceTopup, VpnSubscription } from '#upstream/contract.ts';
import { chargeOf } from '#upstream/mapping/events.ts';
import { CLOCK_SKEW_MS } from '#upstream/mapping/wallet-movements.ts';

export type LookUpResult<Item = unknown> =
  | Found<Item>
  /** That does not prove that it was not bought. */
  | { readonly kind: 'not_found' }
  | Unavailable;

export interface Found<Item = unknown> {
  readonly kind: 'found';
  readonly report: Report;
  /** As the service sent it. */
  readonly record: Item;
  /** The kind of event that reports the same, if there is one. */
  readonly event: string | undefined;
}

interface Unavailable {
  readonly kind: 'unavailable';
  readonly failure: FailureDetail;
  /** The service names the purchase in a record that cannot be read. */
  readonly isOurs?: true;
}

/**
 * For a completed attempt: an event may contain only a part of its facts. @throws WorkFinishedError when the work has
 * ended meanwhile.
 */
export async function storeLookUp<Item>(
  { database, now }: WorkDependencies,
  attempt: AttemptRow,
  lookedUp: LookUpResult<Item>,
): Promise<{ readonly attempt: AttemptRow; readonly lookedUp: LookUpResult<Item> | NotOurs }> {
  if (lookedUp.kind !== 'found') return { attempt, lookedUp };
  return database.transaction(async (tx) => {
    await lockUnfinishedWork(tx, workOf(attempt));
    const notOurs = await findMismatch(tx, attempt, lookedUp.report);
    if (notOurs !== undefined) return { attempt, lookedUp: notOurs };
    return { attempt: await recordReport(tx, attempt.id, lookedUp.report, new Date(now())), lookedUp };
  });
}

/** The workflow waits and tries again. `retryAfterMs` as the service asked for. */
export function notYet(reason: NotYetReason, detail: string, retryAfterMs?: number): CompletionResult {
  return { kind: 'not_yet', reason, detail, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** @param notListed when the service does not list it. */
export function notYetShown(lookedUp: Exclude<LookUpResult, Found> | undefined, notListed: string): CompletionResult {
  return lookedUp?.kind === 'unavailable'
    ? notYet(lookedUp.failure.class, lookedUp.failure.detail)
    : notYet('not_listed', notListed);
}

interface Search<Item> {
  readonly found: (item: Item) => Found<Item>;
  /** `orders`, … */
  readonly noun: string;
}

/**
 * Undefined when the service has no such call or does not know the id. The id may be wrong; a list may still contain
 * the purchase.
 */
export function resultById<Item>(
  read: OptionalResult<Item>,
  found: Search<Item>['found'],
): LookUpResult<Item> | undefined {
  if (read.ok) return found(read.value);
  if (read.kind !== 'failure' || read.status === 404) return undefined;
  return { kind: 'unavailable', failure: failureNote(read), ...(read.isOurs === true && { isOurs: true }) };
}

/**
 * For a list filtered for one attempt. An empty list proves absence only when it is complete. Of several items none is
 * chosen.
 */
export function resultOfList<Item>(
  list: OptionalResult<Listing<Item>>,
  { found, noun }: Search<Item>,
): LookUpResult<Item> {
  if (!list.ok) return unread(list, noun);
  const { items, complete } = list.value;
  const [item, another] = items;
  if (item !== undefined && another === undefined) return found(item);
  if (item === undefined && complete) return { kind: 'not_found' };
  return drift(
    another === undefined
      ? `The service lists more ${noun} than can be searched, or one that may be this purchase under another name.`
      : `The service lists ${items.length} ${noun} for one attempt: it may have bought more than once.`,
  );
}

/** By the service's id or our reference. An attempt that matches several items is left to its single look-up. */
export function resultsByReference<Item>(
  list: OptionalResult<Listing<Item>>,
  attempts: readonly AttemptRow[],
  found: (item: Item, attempt: AttemptRow) => Found,
  namesOf: (item: Item) => { readonly id: string; readonly reference?: string | null | undefined },
): ReadonlyMap<string, Found> | undefined {
  if (!list.ok) return undefined;
  // By id: a list that grows while it is read may show one item on two pages.
  const items = new Map(list.value.items.map((item) => [namesOf(item).id, item]));
  const byReference = Map.groupBy(items.values(), (item) => namesOf(item).reference ?? null);
  const results = new Map<string, Found>();
  for (const attempt of attempts) {
    const { id, serviceId, reference } = attempt;
    const named = reference === null ? [] : (byReference.get(reference) ?? []);
    const known = serviceId === null ? undefined : items.get(serviceId);
    const [item, another] = new Set(known === undefined ? named : [...named, known]);
    if (item !== undefined && another === undefined) results.set(id, found(item, attempt));
  }
  return results;
}

function unread<Item>(list: Exclude<OptionalResult<Listing<Item>>, { ok: true }>, noun: string): Unavailable {
  if (list.kind === 'failure') return { kind: 'unavailable', failure: failureNote(list) };
  return drift(`This service offers no way to look ${noun} up.`);
}

function drift(detail: string): Unavailable {
  return { kind: 'unavailable', failure: { class: 'contract_drift', detail } };
}

/**
 * Some services name what was delivered in their list only. @param isFilled whether a completed record names it;
 * undefined for another record.
 */
export async function filledResult<Item extends { readonly id: string }>(
  byId: LookUpResult<Item> | undefined,
  isFilled: (item: Item) => boolean | undefined,
  findInList: () => Promise<LookUpResult<Item>>,
): Promise<LookUpResult<Item>> {
  if (byId !== undefined && !(byId.kind === 'found' && isFilled(byId.record) === false)) return byId;
  const listed = await findInList();
  if (byId?.kind !== 'found') return listed;
  const isSame = listed.kind === 'found' && listed.record.id === byId.record.id;
  return isSame && isFilled(listed.record) === true ? listed : byId;
}

export function purchaseReport(
  record: ServiceOrder | ServiceTopup | VpnSubscription,
  outcome: ObservedOutcome,
): Report {
  const { id, failure } = record;
  return {
    outcome,
    serviceId: id,
    serviceEsimId: ('esim_id' in record ? record.esim_id : undefined) ?? undefined,
    productId:
      ('vpn_plan_id' in record ? record.vpn_plan_id : 'package_id' in record ? record.package_id : undefined) ??
      undefined,
    charged: chargeOf(record),
    reason: failure ?? undefined,
  };
}

/** @throws Error for kinds without a reference, whose column is null. */
export function ownReference({ id, reference }: AttemptRow): string {
  if (reference === null) throw new Error(`attempt ${id} has no reference`);
  return reference;
}

/** Nothing older can belong to this attempt, allowing for clock skew. @returns Unix milliseconds. */
export function sinceFirstSend({ firstSentAt, createdAt }: Pick<AttemptRow, 'firstSentAt' | 'createdAt'>): number {
  return (firstSentAt ?? createdAt).getTime() - CLOCK_SKEW_MS;
}
