import { eq, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { recordMovement } from '#db/money/journal.ts';
import { requeueUnmatched } from '#db/queues/inbox.ts';
import { attempts } from '#db/schema.ts';
import { chargedOf, lockAttemptRow, workOf, serviceIdsOfOthers } from '#db/work/attempts.ts';
import { type AttemptRow, storedKind, workTable } from '#db/work/rows.ts';
import { cancellationOutcome, mergeReports } from '#domain/cancellation/refund.ts';
import { equalMoney, type Money } from '#domain/money/money.ts';
import { ATTEMPT_DECISIONS, type ObservedOutcome, isAsOrdered } from '#domain/relay/observation.ts';
import { attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import { storedReason, type StoredReason } from '#domain/work/foreign-text.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { knownReports, storeCancellationReport } from '#fulfilment/work/cancellation.ts';
import { openContradiction } from '#fulfilment/work/events.ts';
import type { CancellationDetails } from '#fulfilment/work/refunds.ts';
import { storeSubscriptionReport, type SubscriptionReport } from '#fulfilment/work/subscription.ts';

/** From an answer, a look-up or an event. */
export interface AttemptReport {
  readonly outcome: ObservedOutcome;
  /** For a cancellation, the id of its refund once it is named. */
  readonly serviceId: string | undefined;
  readonly serviceEsimId?: string | undefined;
  /** Of the sold package or VPN plan. */
  readonly productId?: number | undefined;
  readonly charged?: Money | undefined;
  readonly reason?: StoredReason | undefined;
  readonly cancellation?: CancellationDetails | undefined;
  readonly subscription?: SubscriptionReport | undefined;
}

/**
 * Also stores the debit. Progress only goes forward; a second service id opens a case. `now` is the time of a report
 * about a cancellation; `lastReportAt` comes from the database's clock.
 */
export async function recordReport(
  tx: Executor,
  attemptId: string,
  told: AttemptReport,
  now: Date,
): Promise<AttemptRow> {
  return applyReport(tx, await lockAttemptRow(tx, attemptId), told, now);
}

/** As {@link recordReport}. `known` is locked in this transaction. */
export async function applyReport(
  tx: Executor,
  known: AttemptRow,
  told: AttemptReport,
  now: Date,
): Promise<AttemptRow> {
  const attemptId = known.id;
  const facts = await beside(tx, known, told);
  if (known.serviceId !== null && facts.serviceId !== undefined && known.serviceId !== facts.serviceId) {
    const detail = `The service gives one attempt two ids: ${known.serviceId} and ${facts.serviceId}.`;
    await openContradiction(tx, workOf(known), detail, now, known.id);
    return known;
  }
  await reportDisagreement(tx, known, facts, now);
  const state = attemptStateAfter(known.state, facts.outcome);
  const failed = facts.outcome === 'failed';
  const { failureReported, isPurchase, esim } = KINDS[known.subjectKind];
  const charged = chargedOf(known) ?? facts.charged;
  const isNamed = known.serviceId === null && facts.serviceId !== undefined;
  const [updated] = await tx
    .update(attempts)
    .set({
      serviceId: facts.serviceId ?? known.serviceId,
      // An eSIM that existed before is known under the id that works in our calls.
      serviceEsimId: (esim === 'existing' ? known.serviceEsimId : null) ?? facts.serviceEsimId ?? known.serviceEsimId,
      chargedAmount: charged?.amount ?? null,
      chargedCurrency: charged?.currency ?? null,
      lastReportAt: sql`clock_timestamp()`,
      ...(state !== known.state && {
        state,
        // Evidence from before the failure does not count.
        ...(failed && isPurchase && { failedAt: sql`clock_timestamp()`, settled: false }),
        failureClass: failed ? failureReported : null,
        ...(failed ? (facts.reason ?? storedReason(undefined)) : { failureDetail: null, serviceMessage: null }),
        // A refused cancellation cost nothing, so its eSIM is free at once.
        ...(failed && !isPurchase && { busyEsimId: null }),
        leaseToken: null,
        leaseUntil: null,
      }),
    })
    .where(eq(attempts.id, attemptId))
    .returning();
  if (updated === undefined) throw new Error(`attempt ${attemptId} vanished while it was locked`);
  if (isNamed) await requeueUnmatched(tx, known.subjectKind, { serviceId: facts.serviceId });
  if (!failed && charged !== undefined) await recordMovement(tx, { direction: 'debit', attemptId, money: charged });

  if (facts.cancellation !== undefined) await storeCancellationReport(tx, workOf(known), facts.cancellation, now);
  if (facts.subscription !== undefined) await storeSubscriptionReport(tx, known.subjectId, facts.subscription, now);
  return updated;
}

async function beside(tx: Executor, known: AttemptRow, told: AttemptReport): Promise<AttemptReport> {
  if (told.cancellation === undefined) return told;
  return {
    ...told,
    outcome: cancellationOutcome(mergeReports(await knownReports(tx, known.subjectId), told.cancellation)),
  };
}

/** Opens a case, whether the contradiction comes from an answer, a look-up or an event. */
async function reportDisagreement(tx: Executor, known: AttemptRow, facts: AttemptReport, now: Date): Promise<void> {
  if (ATTEMPT_DECISIONS[known.state][facts.outcome] === 'contradiction') {
    const detail = `The service reports attempt ${known.number} as ${facts.outcome}, and before as ${known.state}.`;
    await openContradiction(tx, workOf(known), detail, now, known.id);
  }
  await reportOtherPrice(tx, known, facts.charged, now);
}

/** The known price stays. */
export async function reportOtherPrice(
  tx: Executor,
  known: AttemptRow,
  charged: Money | undefined,
  now: Date,
): Promise<void> {
  const { chargedAmount, chargedCurrency } = known;
  if (chargedAmount === null || chargedCurrency === null || charged === undefined) return;
  if (equalMoney(charged, { amount: chargedAmount, currency: chargedCurrency })) return;
  const detail = `The service names two prices for attempt ${known.number}.`;
  await openContradiction(tx, workOf(known), detail, now, known.id);
}

/** @returns the ordered product when it differs from the sold one; undefined when it may be the same. */
async function orderedInstead(db: Executor, work: WorkRef, sold: number | undefined): Promise<number | undefined> {
  if (sold === undefined) return undefined;
  const ordered = await orderedProduct(db, work);
  return isAsOrdered(ordered, sold) ? undefined : ordered;
}

/** Undefined for a kind that orders nothing. */
export async function orderedProduct(db: Executor, { kind, id }: WorkRef): Promise<number | undefined> {
  const { product } = storedKind(kind);
  if (product === undefined) return undefined;
  const table = workTable(kind);
  const [row] = await db
    .select({ is: sql<number>`${product.column}` })
    .from(table)
    .where(eq(table.id, id));
  return row?.is;
}

export interface NotOurs {
  readonly kind: 'not_ours';
  readonly detail: string;
}

/** @returns why the service's record cannot be of this attempt; undefined when it may be. */
export async function findMismatch(
  db: Executor,
  attempt: AttemptRow,
  facts: AttemptReport,
): Promise<NotOurs | undefined> {
  const { serviceId, productId } = facts;
  if (serviceId !== undefined && (await serviceIdsOfOthers(db, attempt, [serviceId])).size > 0)
    return belongsToAnother(attempt, facts);
  const ordered = await orderedInstead(db, workOf(attempt), productId);
  if (ordered === undefined) return undefined;
  const noun = KINDS[attempt.subjectKind].productNoun;
  const detail =
    `${has(attempt, facts)}, of ${noun} ${productId}, and ${noun} ${ordered} was ordered: it may have ` +
    'been bought by hand.';
  return { kind: 'not_ours', detail };
}

/** The part of {@link findMismatch} for the answer of a send: the client has compared its product with the request. */
export function belongsToAnother(attempt: AttemptRow, facts: AttemptReport): NotOurs {
  const detail = `${has(attempt, facts)}, which belongs to another ${KINDS[attempt.subjectKind].noun}.`;
  return { kind: 'not_ours', detail };
}

function has({ number }: AttemptRow, { serviceId }: AttemptReport): string {
  return `The service has ${serviceId ?? 'something'} for attempt ${number}`;
}
