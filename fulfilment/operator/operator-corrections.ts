/** Stores an operator's verdict on an attempt. */
import { eq, sql } from 'drizzle-orm';
import { runWrites } from '#db/connection/alongside.ts';
import type { Executor } from '#db/connection/database.ts';
import { requeueingUnmatched } from '#db/queues/inbox.ts';
import { attempts } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { needsWallet } from '#domain/operator/operator-actions.ts';
import { attemptStateAfter, type AttemptEvent } from '#domain/work/attempt-lifecycle.ts';
import { KINDS } from '#domain/work/kinds.ts';
import type { Resolution } from '#fulfilment/operator/correct-cancellation.ts';
import { FULFILMENT_KINDS } from '#fulfilment/work/kinds.ts';

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
      await runWrites(tx, requeueingUnmatched(tx, attempt.subjectKind, { serviceId }));
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

/**
 * A purchase that an operator marks as bought is looked up, never resent: the service may have forgotten its key and
 * buy again.
 */
const NEVER_SENT_AGAIN = {
  failureClass: 'key_or_reference_used',
  serviceMessage: null,
  failureDetail: 'Verdict of an operator: the service has sold it. It is looked up there; nothing is sent again.',
} as const;

/**
 * The event of a verdict `bought`. A delivery is read at the service; if the service does not know the purchase by the
 * given id, a case opens again.
 */
async function verdictOfBought(
  tx: Executor,
  attempt: AttemptRow,
  serviceEsimId: string | undefined,
): Promise<AttemptEvent> {
  const { hasDelivery } = KINDS[attempt.subjectKind];
  const ownVerdict = FULFILMENT_KINDS[attempt.subjectKind].verdictOfBought;
  if (ownVerdict !== undefined) return ownVerdict(tx, attempt);
  return !hasDelivery || serviceEsimId !== undefined ? 'verdict_bought' : 'verdict_bought_unseen';
}
