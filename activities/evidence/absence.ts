import type { PurchaseKind } from '#activities/purchases/purchase-kind.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { AbsenceResult, PurchaseActivities } from '#activities/work/work-types.ts';
import { findAttemptById } from '#db/attempts/attempts.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { lockUnfinishedWork } from '#db/work/work-rows.ts';
import { isLookUpRetried } from '#domain/policy/workflow-policy.ts';
import type { WorkKind, WorkRef } from '#domain/work/work.ts';
import { restartResendWindow } from '#fulfilment/attempts/restored-attempts.ts';

/**
 * Proves that no send of an attempt has bought so far: a complete list of the service without it, and then a complete
 * wallet without its debit. The caller has waited for the settling delay since the last send. It is no proof against a
 * request that is still on its way, so the attempt stays unknown, and it neither fails nor is it bought anew; only its
 * resend window begins anew, for the same key. Without keys that the service replays there is nothing to be gained
 * (`docs/adr/0018-absence-restarts-the-resend-window.md`).
 */
export function createAbsenceProof(
  { database, purchaseInForce }: WorkDependencies,
  kinds: Readonly<Record<WorkKind, PurchaseKind>>,
  readDebitEvidence: PurchaseActivities['readDebitEvidence'],
): PurchaseActivities['proveAbsence'] {
  const absenceOf = async (work: WorkRef, attempt: AttemptRow): Promise<AbsenceResult | undefined> => {
    const lookedUp = await kinds[work.kind].lookUp(attempt);
    if (lookedUp.kind === 'unavailable') {
      return { kind: 'unproven', mayPass: isLookUpRetried(lookedUp.failure.class), detail: lookedUp.failure.detail };
    }
    if (lookedUp.kind === 'found') return { kind: 'changed' };
    // A cancellation spends nothing: that the eSIM is as it was says all.
    if (work.kind === 'cancellation') return undefined;
    const { evidence, mayPass = false, detail } = await readDebitEvidence({ work, attemptId: attempt.id });
    return evidence === 'no_debit' ? undefined : { kind: 'unproven', mayPass, detail };
  };

  return async ({ work, attemptId }): Promise<AbsenceResult> => {
    const { attempt, inForce } = await database.run(async (db) => ({
      attempt: await findAttemptById(db, attemptId),
      inForce: await purchaseInForce(db),
    }));
    if (!isOpen(attempt)) return { kind: 'changed' };
    // Revoked since the workflow began: to prove more would lead to no send.
    if (!inForce.resendAllowed)
      return { kind: 'unproven', mayPass: false, detail: 'Nothing may be sent twice to this service.' };
    const otherwise = await absenceOf(work, attempt);
    if (otherwise !== undefined) return otherwise;
    return database.transaction(async (tx) => {
      await lockUnfinishedWork(tx, work);
      return { kind: (await restartResendWindow(tx, attempt)) ? 'absent' : 'changed' };
    });
  };
}

/** One that is being sent left no result when its workflow comes to this: `restartResendWindow` looks at its lease. */
function isOpen({ state }: AttemptRow): boolean {
  return state === 'unknown' || state === 'sending';
}
