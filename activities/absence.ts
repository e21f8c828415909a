import type { WorkKind } from '#domain/work.ts';
import { couldNotBeAsked } from '#domain/workflow-policy.ts';
import { findAttemptById } from '#db/attempts.ts';
import { restartResendWindow } from '#db/restored-attempts.ts';
import { lockUnfinishedWork } from '#db/work.ts';
import type { PurchaseKind } from '#activities/purchases/kind.ts';
import type { WorkDependencies } from '#activities/work-context.ts';
import type { AbsenceResult, PurchaseActivities } from '#activities/work-types.ts';

/**
 * Proves that no send of an attempt has bought so far: a complete list of the service without it, and then a complete wallet without its
 * debit. The caller has waited for the settling delay since the last send. It is no proof against a request that is still on its way, so the
 * attempt stays unknown; only its resend window begins anew, for the same key.
 */
export function createAbsenceProof(
  { database }: WorkDependencies,
  kinds: Readonly<Record<WorkKind, PurchaseKind>>,
  readDebitEvidence: PurchaseActivities['readDebitEvidence'],
): PurchaseActivities['proveAbsence'] {
  return async ({ work, attemptId }): Promise<AbsenceResult> => {
    const attempt = await database.run((db) => findAttemptById(db, attemptId));
    if (attempt.state !== 'unknown') return { kind: 'changed' };
    const inquiry = await kinds[work.kind].ask(attempt);
    if (inquiry.kind === 'unavailable') {
      return { kind: 'unproven', mayPass: couldNotBeAsked(inquiry.failure.class), detail: inquiry.failure.detail };
    }
    if (inquiry.kind === 'found') return { kind: 'changed' };
    // A cancellation spends nothing: that the eSIM is as it was says all.
    if (work.kind !== 'cancellation') {
      const { evidence, mayPass = false, detail } = await readDebitEvidence({ work, attemptId });
      if (evidence !== 'no_debit') return { kind: 'unproven', mayPass, detail };
    }
    return database.transaction(async (tx) => {
      await lockUnfinishedWork(tx, work);
      return { kind: (await restartResendWindow(tx, attemptId)) ? 'absent' : 'changed' };
    });
  };
}
