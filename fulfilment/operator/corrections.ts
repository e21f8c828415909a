import { eq, sql } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { bookAsAdjustment } from '#db/money/journal-queries.ts';
import { requeueUnmatched } from '#db/queues/inbox.ts';
import { attempts, refunds } from '#db/schema.ts';
import { type CaseOfWork, dismissDeliveryCase, findCase } from '#db/work/cases.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { cancellationOutcome } from '#domain/cancellation/refund.ts';
import { type CaseVerdict, needsWallet } from '#domain/operator/operator-actions.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { type AttemptEvent, attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import type { Resolution } from '#fulfilment/operator/action-record.ts';
import { knownReports, storeCancellationReport, undoCancelled } from '#fulfilment/work/cancellation.ts';
import { expectRefund, nameRefund } from '#fulfilment/work/refunds.ts';

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
          ...(isProven ? { busyEsimId: null } : { failedAt: sql`clock_timestamp()` }),
          failureClass: 'supplier_failed',
          serviceMessage: null,
          failureDetail: isProven
            ? 'Verdict of an operator: the service sold nothing for it and keeps no money.'
            : 'Verdict of an operator: the service will not finish it. The wallet is read for its cost.',
        })
        .where(eq(attempts.id, attempt.id));
      return;
    case 'bought': {
      const state = attemptStateAfter(attempt.state, await verdictOfBought(tx, attempt, serviceEsimId));
      await requeueUnmatched(tx, attempt.subjectKind, { serviceId });
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
          serviceEsimId:
            (KINDS[attempt.subjectKind].esim === 'delivered' ? serviceEsimId : undefined) ?? attempt.serviceEsimId,
          ...(state === 'unknown'
            ? NEVER_SENT_AGAIN
            : { failureClass: null, failureDetail: null, serviceMessage: null }),
          // So that the reconciler looks it up in its next run.
          lastReportAt: attempt.firstSentAt ?? attempt.createdAt,
          lastLookUpAt: null,
        })
        .where(eq(attempts.id, attempt.id));
    }
  }
}

/** It is looked up, never resent: the service may have forgotten its key and buy again. */
const NEVER_SENT_AGAIN = {
  failureClass: 'key_or_reference_used',
  serviceMessage: null,
  failureDetail: 'Verdict of an operator: the service has sold it. It is looked up there; nothing is sent again.',
} as const;

/** If the service does not know the purchase by the given id, a case opens again. */
async function verdictOfBought(
  tx: Executor,
  attempt: AttemptRow,
  serviceEsimId: string | undefined,
): Promise<AttemptEvent> {
  const { subjectKind: kind } = attempt;
  if (kind === 'cancellation') return verdictOfCancelled(tx, attempt);
  // Nothing more is read of a top-up.
  return kind === 'topup' || serviceEsimId !== undefined ? 'verdict_bought' : 'verdict_bought_unseen';
}

type CaseDismissal =
  | { readonly kind: 'closed' | 'about_work'; readonly row: CaseOfWork }
  | { readonly kind: 'not_found' };

/**
 * A case that is closed already is not changed. Without `owner` every case may be dismissed. @returns `about_work` for
 * a case about work, which is resolved together with the work.
 */
export async function dismissCase(
  tx: Executor,
  id: string,
  { owner, actor, reason }: { readonly owner: Owner; readonly actor: string; readonly reason: string },
  now: Date,
): Promise<CaseDismissal> {
  const found = await findCase(tx, id, owner);
  if (found === undefined) return { kind: 'not_found' };
  if (found.closedAt !== null) return { kind: 'closed', row: found };
  if (found.subjectKind !== 'delivery') return { kind: 'about_work', row: found };
  await dismissDeliveryCase(tx, found, reason, now);
  await addAuditEntry(tx, { actor, action: 'case.dismiss', subject: { kind: 'case', id }, reason }, now);
  const row = await findCase(tx, id, owner);
  return row === undefined ? { kind: 'not_found' } : { kind: 'closed', row };
}

/**
 * Only a movement without a cause is changed, with an entry in the audit log. `movementId` is shown by the API as
 * `mov_<number>`.
 */
export async function explainMovement(
  tx: Executor,
  movementId: bigint,
  { actor, reason }: { readonly actor: string; readonly reason: string },
  now: Date,
) {
  const booked = await bookAsAdjustment(tx, movementId);
  if (booked?.isNew === true) {
    const subject = { kind: 'wallet_movement', id: `mov_${movementId}` } as const;
    await addAuditEntry(tx, { actor, action: 'wallet_movement.explain', subject, reason }, now);
  }
  return booked?.movement;
}

export async function correctCancellation(
  tx: Executor,
  work: WorkRef,
  { verdict, serviceId }: Resolution,
  now: Date,
): Promise<void> {
  if (verdict === 'bought') {
    await storeCancellationReport(tx, work, { esim: 'cancelled' }, now);
    if (serviceId !== undefined) await nameRefund(tx, work, serviceId, now);
  }
  if (verdict === 'not_bought') await undoCancelled(tx, work);
  await judgeRefundByPerson(tx, work, verdict, now);
}

/** The refund may still be waited for. */
async function verdictOfCancelled(tx: Executor, { subjectId }: AttemptRow): Promise<AttemptEvent> {
  return VERDICT_OF_CANCELLED[cancellationOutcome(await knownReports(tx, subjectId))];
}

const VERDICT_OF_CANCELLED = {
  processing: 'verdict_bought_undecided',
  completed: 'verdict_bought',
  failed: 'verdict_not_bought',
} as const satisfies Record<ObservedOutcome, AttemptEvent>;

/** Its money came, or it is no longer awaited. */
async function judgeRefundByPerson(tx: Executor, work: WorkRef, verdict: CaseVerdict, now: Date): Promise<void> {
  if (verdict !== 'refunded' && verdict !== 'dismissed') return;
  // Without a named refund there is no row yet for the verdict.
  await expectRefund(tx, work, now);
  await tx.update(refunds).set({ verdict }).where(eq(refunds.cancellationId, work.id));
}
