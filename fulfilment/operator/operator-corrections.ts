/** Stores an operator's verdict on an attempt or on a cancelled eSIM. */
import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { requeueUnmatched } from '#db/queues/inbox.ts';
import { attempts, refunds } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { cancellationOutcome } from '#domain/cancellation/refund.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { attemptStateAfter, type AttemptEvent } from '#domain/work/attempt-lifecycle.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { needsWallet, type OperatorAction, type CaseVerdict } from '#domain/work/operator-actions.ts';
import { knownReports, storeCancellationFacts, undoCancelled } from '#fulfilment/work/record-cancellation.ts';
import { nameRefund, expectRefund } from '#fulfilment/work/store-refund.ts';

export type Resolution = Extract<OperatorAction, { action: 'resolve' }>;

/** Sets eSIM and refund to the operator's verdict. */
export async function correctCancellation(
  tx: Executor,
  work: WorkRef,
  { verdict, serviceId }: Resolution,
  now: Date,
): Promise<void> {
  if (verdict === 'bought') {
    await storeCancellationFacts(tx, work, { esim: 'cancelled' }, now);
    if (serviceId !== undefined) await nameRefund(tx, work, serviceId, now);
  }
  if (verdict === 'not_bought') await undoCancelled(tx, work);
  await judgeRefundByPerson(tx, work, verdict, now);
}

/** Sets the attempt to the operator's verdict; the audit log names the operator. */
export async function correctAttempt(
  tx: Executor,
  attempt: AttemptRow,
  { reason, verdict, serviceId, serviceEsimId }: Resolution,
): Promise<void> {
  const noLease = { leaseToken: null, leaseUntil: null };
  const isProven = !KINDS[attempt.subjectKind].isPurchase || !needsWallet({ reason, attempt });
  switch (verdict) {
    case 'dismissed':
    case 'refunded':
      return;
    case 'not_bought':
      await tx
        .update(attempts)
        .set({
          ...noLease,
          state: attemptStateAfter(attempt.state, 'verdict_not_bought'),
          // Until the wallet shows that it cost nothing, no new attempt is made and its eSIM stays busy.
          settled: isProven,
          ...(isProven && { busyEsimId: null }),
          failureClass: 'supplier_failed',
          failureDetail: isProven
            ? 'An operator found that the service sold nothing for it and keeps no money.'
            : 'An operator says that the service will not finish it; the wallet shows what it cost.',
        })
        .where(eq(attempts.id, attempt.id));
      return;
    case 'bought': {
      const state = attemptStateAfter(attempt.state, await verdictOfBought(tx, attempt, serviceEsimId));
      await tx
        .update(attempts)
        .set({
          ...noLease,
          state,
          anyUnknown: true,
          // Earlier evidence of the wallet does not count against the operator's finding.
          settled: false,
          serviceId: serviceId ?? attempt.serviceId,
          // Only an order's eSIM is unknown before the purchase.
          serviceEsimId: (attempt.subjectKind === 'order' ? serviceEsimId : undefined) ?? attempt.serviceEsimId,
          ...(state === 'unknown' ? NEVER_SENT_AGAIN : { failureClass: null, failureDetail: null }),
          // So that the reconciler looks it up in its next run.
          lastHeardAt: attempt.firstSentAt ?? attempt.createdAt,
          lastAskedAt: null,
        })
        .where(eq(attempts.id, attempt.id));
      if (serviceId !== undefined) await requeueUnmatched(tx, attempt.subjectKind, { serviceId });
    }
  }
}

/**
 * A purchase that an operator marks as bought is looked up, never resent: the service may have forgotten its key and
 * buy again.
 */
const NEVER_SENT_AGAIN = {
  failureClass: 'key_or_reference_used',
  failureDetail:
    'An operator says that the service has sold it: the service is asked for it, and nothing is sent again.',
} as const;

/**
 * The event of a verdict `bought`. A top-up has nothing to fetch. For a cancelled eSIM the refund is awaited. For an
 * order the service is read for its eSIM; if it does not know the order by the given id, a case opens again.
 */
async function verdictOfBought(
  tx: Executor,
  { subjectKind, subjectId }: AttemptRow,
  serviceEsimId: string | undefined,
): Promise<AttemptEvent> {
  if (subjectKind === 'cancellation')
    return VERDICT_OF_CANCELLED[cancellationOutcome(await knownReports(tx, subjectId))];
  return subjectKind === 'topup' || serviceEsimId !== undefined ? 'verdict_bought' : 'verdict_bought_unseen';
}

/** The event when an eSIM is cancelled, by what is known of the eSIM and its refund. */
const VERDICT_OF_CANCELLED = {
  processing: 'verdict_bought_undecided',
  completed: 'verdict_bought',
  failed: 'verdict_not_bought',
} as const satisfies Record<ObservedOutcome, AttemptEvent>;

/** Stores an operator's verdict on a refund: its money came, or it is no longer awaited. */
async function judgeRefundByPerson(tx: Executor, work: WorkRef, verdict: CaseVerdict, now: Date): Promise<void> {
  if (verdict !== 'refunded' && verdict !== 'dismissed') return;
  // Without a named refund there is no row yet for the verdict.
  await expectRefund(tx, work, now);
  await tx.update(refunds).set({ verdict }).where(eq(refunds.cancellationId, work.id));
}
