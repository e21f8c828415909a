/** What a person says is true of an attempt or of a cancelled eSIM, written down. */
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

/** Makes what is known of the eSIM and its refund what the person says it is. */
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

/** Makes the attempt what the person says it is; who knows better than we do is written down beside it. */
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
          // Until the wallet has shown that it cost nothing, nothing is bought anew and its eSIM stays taken.
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
          // What the wallet showed before says nothing of what a person has found since.
          settled: false,
          serviceId: serviceId ?? attempt.serviceId,
          // Only an order's eSIM is not known before it is bought.
          serviceEsimId: (attempt.subjectKind === 'order' ? serviceEsimId : undefined) ?? attempt.serviceEsimId,
          ...(state === 'unknown' ? NEVER_SENT_AGAIN : { failureClass: null, failureDetail: null }),
          // So that the reconciler asks for it in its next run.
          lastHeardAt: attempt.firstSentAt ?? attempt.createdAt,
          lastAskedAt: null,
        })
        .where(eq(attempts.id, attempt.id));
      if (serviceId !== undefined) await requeueUnmatched(tx, attempt.subjectKind, { serviceId });
    }
  }
}

/**
 * What a person calls bought is asked for: sent again it might be bought twice, where the service has forgotten the
 * key.
 */
const NEVER_SENT_AGAIN = {
  failureClass: 'key_or_reference_used',
  failureDetail:
    'An operator says that the service has sold it: the service is asked for it, and nothing is sent again.',
} as const;

/**
 * Of a top-up there is nothing to fetch, and the refund of a cancelled eSIM is waited for. Of an order the service is
 * asked for its eSIM; should it not know the order by the id that was named, the case comes back.
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

/** What it means for the attempt that an eSIM is cancelled, by what is known of it and its refund then. */
const VERDICT_OF_CANCELLED = {
  processing: 'verdict_bought_undecided',
  completed: 'verdict_bought',
  failed: 'verdict_not_bought',
} as const satisfies Record<ObservedOutcome, AttemptEvent>;

/** Takes a person's word for the refund of a cancelled eSIM: its money came, or it is not waited for any more. */
async function judgeRefundByPerson(tx: Executor, work: WorkRef, verdict: CaseVerdict, now: Date): Promise<void> {
  if (verdict !== 'refunded' && verdict !== 'dismissed') return;
  // Where no refund was ever named there is no row yet to say it in.
  await expectRefund(tx, work, now);
  await tx.update(refunds).set({ verdict }).where(eq(refunds.cancellationId, work.id));
}
