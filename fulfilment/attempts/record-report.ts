import { eq, sql } from 'drizzle-orm';
import { workOf } from '#db/attempts/attempts.ts';
import type { Executor } from '#db/connection/database.ts';
import { recordMovement } from '#db/money/journal.ts';
import { requeueUnmatched } from '#db/queues/inbox.ts';
import { attempts } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { RowMissingError } from '#db/work/work-rows.ts';
import { cancellationOutcome, mergeReports } from '#domain/cancellation/refund.ts';
import { equalMoney, type Money } from '#domain/money/money.ts';
import { ATTEMPT_DECISIONS, type ObservedOutcome } from '#domain/relay/observation.ts';
import { attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { knownReports, storeCancellationFacts } from '#fulfilment/work/record-cancellation.ts';
import { storeSubscriptionFacts, type SubscriptionFacts } from '#fulfilment/work/record-subscription.ts';
import type { CancellationFacts } from '#fulfilment/work/store-refund.ts';

/** What the service says of an attempt, from an answer, a read or an event. */
export interface ServiceFacts {
  readonly outcome: ObservedOutcome;
  /** The service's id of what it made for the attempt; a cancellation has none until a refund is named. */
  readonly serviceId: string | undefined;
  readonly serviceEsimId?: string | undefined;
  /** What it says was bought: the id of the package or of the VPN plan. */
  readonly productId?: number | undefined;
  readonly charged?: Money | undefined;
  /** Why the service says it failed. */
  readonly failureDetail?: string | undefined;
  /** Of a cancellation, what else is said of it. */
  readonly cancellation?: CancellationFacts | undefined;
  /** Of a VPN subscription, the same. */
  readonly subscription?: SubscriptionFacts | undefined;
}

/**
 * Stores what the service says of an attempt, and the debit in our books. Progress only goes forward: an attempt that
 * completed does not return to processing. A second id of the service for the same attempt opens a case.
 *
 * @param now of what is said of a cancellation; that the attempt was heard of is dated by the clock of the database.
 * @returns the attempt as it now is.
 */
export async function recordFacts(tx: Executor, attemptId: string, told: ServiceFacts, now: Date): Promise<AttemptRow> {
  return (await recordFactsOver(tx, attemptId, told, now)).after;
}

/** As {@link recordFacts}. @returns the attempt as it was and as it now is. */
export async function recordFactsOver(
  tx: Executor,
  attemptId: string,
  told: ServiceFacts,
  now: Date,
): Promise<{ readonly before: AttemptRow; readonly after: AttemptRow }> {
  const [known] = await tx.select().from(attempts).where(eq(attempts.id, attemptId)).for('update');
  if (known === undefined) throw new RowMissingError(`attempt ${attemptId} does not exist in this database`);
  const facts = await beside(tx, known, told);
  if (known.serviceId !== null && facts.serviceId !== undefined && known.serviceId !== facts.serviceId) {
    const detail = `The service gives one attempt two ids: ${known.serviceId} and ${facts.serviceId}.`;
    await openCase(tx, workOf(known), 'contradiction', detail, known.id);
    return { before: known, after: known };
  }
  await reportDisagreement(tx, known, facts);
  const state = attemptStateAfter(known.state, facts.outcome);
  const failed = facts.outcome === 'failed';
  const { failureReported, isPurchase } = KINDS[known.subjectKind];
  const [row] = await tx
    .update(attempts)
    .set({
      serviceId: facts.serviceId ?? known.serviceId,
      serviceEsimId: facts.serviceEsimId ?? known.serviceEsimId,
      chargedAmount: known.chargedAmount ?? facts.charged?.amount ?? null,
      chargedCurrency: known.chargedAmount === null ? (facts.charged?.currency ?? null) : known.chargedCurrency,
      lastHeardAt: sql`clock_timestamp()`,
      ...(state !== known.state && {
        state,
        failureClass: failed ? failureReported : null,
        failureDetail: failed ? (facts.failureDetail ?? 'The service gave no reason.') : null,
        // What is no purchase cost nothing: there is no money to wait for.
        ...(failed && !isPurchase && { busyEsimId: null }),
        leaseToken: null,
        leaseUntil: null,
      }),
    })
    .where(eq(attempts.id, attemptId))
    .returning();
  if (row === undefined) throw new Error(`attempt ${attemptId} vanished while it was locked`);

  if (facts.cancellation !== undefined) await storeCancellationFacts(tx, workOf(known), facts.cancellation, now);
  if (facts.subscription !== undefined) await storeSubscriptionFacts(tx, known.subjectId, facts.subscription);
  if (known.serviceId === null && facts.serviceId !== undefined) {
    await requeueUnmatched(tx, known.subjectKind, { serviceId: facts.serviceId });
  }
  if (!failed && row.chargedAmount !== null && row.chargedCurrency !== null) {
    const money = { amount: row.chargedAmount, currency: row.chargedCurrency };
    await recordMovement(tx, { direction: 'debit', attemptId, money });
  }
  return { before: known, after: row };
}

/** What a word about a cancellation comes to beside earlier ones. */
async function beside(tx: Executor, known: AttemptRow, told: ServiceFacts): Promise<ServiceFacts> {
  if (told.cancellation === undefined) return told;
  return {
    ...told,
    outcome: cancellationOutcome(mergeReports(await knownReports(tx, known.subjectId), told.cancellation)),
  };
}

/** Whoever brings the facts, an answer, a read or an event: what cannot be true beside what is known opens a case. */
async function reportDisagreement(tx: Executor, known: AttemptRow, facts: ServiceFacts): Promise<void> {
  if (ATTEMPT_DECISIONS[known.state][facts.outcome] === 'contradiction') {
    const detail = `The service says ${facts.outcome} of attempt ${known.number}, which it had called ${known.state}.`;
    await openCase(tx, workOf(known), 'contradiction', detail, known.id);
  }
  await reportOtherPrice(tx, known, facts.charged);
}

/** Opens a case when the service names another price for an attempt than it did before. The known one stays. */
export async function reportOtherPrice(tx: Executor, known: AttemptRow, charged: Money | undefined): Promise<void> {
  const { chargedAmount, chargedCurrency } = known;
  if (chargedAmount === null || chargedCurrency === null || charged === undefined) return;
  if (equalMoney(charged, { amount: chargedAmount, currency: chargedCurrency })) return;
  const detail = `The service names two prices for attempt ${known.number}.`;
  await openCase(tx, workOf(known), 'contradiction', detail, known.id);
}
