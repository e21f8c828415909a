import { eq, sql } from 'drizzle-orm';
import { type Executor, sendTogether } from '#db/connection/database.ts';
import { recordMovement } from '#db/money/journal.ts';
import { requeueUnmatched } from '#db/queues/inbox.ts';
import { attempts } from '#db/schema.ts';
import { chargedOf, lockAttempt, workOf, takenServiceIds } from '#db/work/attempts.ts';
import { type AttemptRow, PRODUCT_COLUMNS, workTable } from '#db/work/rows.ts';
import { cancellationOutcome, mergeReports } from '#domain/cancellation/refund.ts';
import { equalMoney, type Money } from '#domain/money/money.ts';
import { ATTEMPT_DECISIONS, isAsOrdered, type ObservedOutcome, type Report } from '#domain/relay/observation.ts';
import { attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { refusedCancellation, storedReason } from '#domain/work/foreign-text.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { knownReports, storeCancellationReport } from '#fulfilment/work/cancellation.ts';
import { openContradiction } from '#fulfilment/work/events.ts';
import { storeSubscriptionReport } from '#fulfilment/work/subscription.ts';

/**
 * Also stores the debit. Progress only goes forward; a second service id opens a case. `now` is the time of a report
 * about a cancellation; `lastReportAt` comes from the database's clock. The caller holds the lock of the work.
 */
export async function recordReport(tx: Executor, attemptId: string, report: Report, now: Date): Promise<AttemptRow> {
  return applyReport(tx, await lockAttempt(tx, attemptId), report, now);
}

/** As {@link recordReport}. `known` is locked in this transaction. */
export async function applyReport(tx: Executor, known: AttemptRow, report: Report, now: Date): Promise<AttemptRow> {
  const work = workOf(known);
  const { serviceId, serviceEsimId, cancellation } = report;
  if (isOtherId(known, report)) {
    await openContradiction(tx, work, twoIds(known, report), now, known.id);
    return known;
  }
  const outcome = await outcomeSoFar(tx, work, report);
  if (ATTEMPT_DECISIONS[known.state][outcome] === 'contradiction') {
    const detail = `The service reports attempt ${known.number} as ${outcome}, and before as ${known.state}.`;
    await openContradiction(tx, work, detail, now, known.id);
  }
  await openCaseOfOtherPrice(tx, known, report.charged, now);

  const state = attemptStateAfter(known.state, outcome);
  const charged = chargedOf(known) ?? report.charged;
  const isFailure = outcome === 'failed';
  const { isPurchase, esim } = KINDS[work.kind];
  const update = tx
    .update(attempts)
    .set({
      serviceId: serviceId ?? known.serviceId,
      // An eSIM that existed before is known under the id that works in our calls.
      serviceEsimId: (esim === 'existing' ? known.serviceEsimId : null) ?? serviceEsimId ?? known.serviceEsimId,
      chargedAmount: charged?.amount ?? null,
      chargedCurrency: charged?.currency ?? null,
      lastReportAt: sql`clock_timestamp()`,
      ...(state !== known.state && {
        state,
        leaseToken: null,
        leaseUntil: null,
        ...(isFailure ? failureColumns(known, report) : NO_FAILURE),
        // Evidence from before the failure does not count.
        ...(isFailure && isPurchase && { failedAt: sql`clock_timestamp()`, settled: false }),
        // A refused cancellation cost nothing, so its eSIM is free at once.
        ...(isFailure && !isPurchase && { busyEsimId: null }),
      }),
    })
    .where(eq(attempts.id, known.id))
    .returning();
  const isNamedNow = known.serviceId === null && serviceId !== undefined;
  const isDebit = !isFailure && charged !== undefined;
  const [[updated]] = await sendTogether([
    () => update,
    isNamedNow ? () => requeueUnmatched(tx, work.kind, { serviceId }) : undefined,
    isDebit ? () => recordMovement(tx, { direction: 'debit', attemptId: known.id, money: charged }) : undefined,
  ]);
  if (updated === undefined) throw new Error(`attempt ${known.id} vanished while it was locked`);

  if (cancellation !== undefined) await storeCancellationReport(tx, work, cancellation, now);
  if (work.kind === 'vpn_subscription') await storeSubscriptionReport(tx, work.id, report, now);
  return updated;
}

/** An operator may have mistyped the known one. */
function isOtherId(known: AttemptRow, { serviceId }: Report): boolean {
  return known.serviceId !== null && serviceId !== undefined && known.serviceId !== serviceId;
}

function twoIds(known: AttemptRow, { serviceId }: Report): string {
  return `The service gives one attempt two ids: ${known.serviceId} and ${serviceId}.`;
}

const NO_FAILURE = { failureClass: null, failureDetail: null, serviceMessage: null };

function failureColumns({ subjectKind }: AttemptRow, { cancellation, reason, unmetConditions = [] }: Report) {
  const failureClass: FailureClass = KINDS[subjectKind].isPurchase ? 'supplier_failed' : 'cancellation_refused';
  if (cancellation !== undefined) return { failureClass, ...refusedCancellation(unmetConditions) };
  // The request for a VPN subscription has the reference of the customer, which a message may repeat.
  return { failureClass, ...storedReason(reason, subjectKind === 'vpn_subscription') };
}

/** Of a cancellation: with what was reported of it before. */
async function outcomeSoFar(
  tx: Executor,
  { id }: WorkRef,
  { outcome, cancellation }: Report,
): Promise<ObservedOutcome> {
  if (cancellation === undefined) return outcome;
  return cancellationOutcome(mergeReports(await knownReports(tx, id), cancellation));
}

/** The known price stays. A subscription that is bought may be renewed at another price. */
export async function openCaseOfOtherPrice(
  tx: Executor,
  known: AttemptRow,
  charged: Money | undefined,
  now: Date,
): Promise<void> {
  const isRenewable = known.subjectKind === 'vpn_subscription' && known.state === 'completed';
  const before = isRenewable ? undefined : chargedOf(known);
  if (before === undefined || charged === undefined || equalMoney(charged, before)) return;
  const detail = `The service names two prices for attempt ${known.number}.`;
  await openContradiction(tx, workOf(known), detail, now, known.id);
}

/** Undefined for a kind that orders nothing. */
export async function orderedProduct(db: Executor, { kind, id }: WorkRef): Promise<number | undefined> {
  const product = PRODUCT_COLUMNS[kind];
  if (product === undefined) return undefined;
  const table = workTable(kind);
  const [row] = await db
    .select({ is: sql<number>`${product}` })
    .from(table)
    .where(eq(table.id, id));
  return row?.is;
}

export interface NotOurs {
  readonly kind: 'not_ours';
  readonly detail: string;
}

/** @returns why the service's record cannot be of this attempt; undefined when it may be. */
export async function findMismatch(db: Executor, attempt: AttemptRow, report: Report): Promise<NotOurs | undefined> {
  const { serviceId, productId } = report;
  if (await isTaken(db, attempt, report)) return belongsToAnother(attempt, report);
  if (isOtherId(attempt, report)) return { kind: 'not_ours', detail: twoIds(attempt, report) };
  if (productId === undefined) return undefined;
  const ordered = await orderedProduct(db, workOf(attempt));
  if (isAsOrdered(ordered, productId)) return undefined;
  const noun = KINDS[attempt.subjectKind].productNoun;
  const detail =
    `The service has ${serviceId ?? 'something'} for attempt ${attempt.number}, of ${noun} ${productId}, and ` +
    `${noun} ${ordered} was ordered: it may have been bought by hand.`;
  return { kind: 'not_ours', detail };
}

/** Its service id is of another attempt of the kind. */
export async function isTaken(db: Executor, { id, subjectKind }: AttemptRow, { serviceId }: Report): Promise<boolean> {
  return serviceId !== undefined && (await takenServiceIds(db, subjectKind, [serviceId], id)).size > 0;
}

export function belongsToAnother({ number, subjectKind }: AttemptRow, { serviceId }: Report): NotOurs {
  const { noun } = KINDS[subjectKind];
  const detail = `The service has ${serviceId} for attempt ${number}, which belongs to another ${noun}.`;
  return { kind: 'not_ours', detail };
}
