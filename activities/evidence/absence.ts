import type { WorkHandlers } from '#activities/purchases/work-handler.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { AbsenceResult, PurchaseActivities } from '#activities/work/work-types.ts';
import { findAttemptById, newestDelivered } from '#db/attempts/attempts.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { lockUnfinishedWork } from '#db/work/work-rows.ts';
import { isLookUpRetried } from '#domain/policy/workflow-policy.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { restartResendWindow } from '#fulfilment/attempts/restored-attempts.ts';

/**
 * Proves that no send of an attempt has bought so far: a complete list of the service without it, a control of that
 * list, and a reading of the wallet that proves that it cost nothing. A request may still be on its way, so the attempt
 * stays unknown: it neither fails nor is it bought again. Only its resend window restarts, for the same key. This helps
 * only when the service replays keys (`docs/adr/0018-absence-restarts-the-resend-window.md`).
 */
export function createAbsenceProof(
  { database, purchaseInForce }: WorkDependencies,
  handlers: WorkHandlers,
  readDebitEvidence: PurchaseActivities['readDebitEvidence'],
): PurchaseActivities['proveAbsence'] {
  const absenceOf = async (work: WorkRef, attempt: AttemptRow): Promise<AbsenceResult | undefined> => {
    const lookedUp = await handlers[work.kind].lookUp(attempt);
    if (lookedUp.kind === 'unavailable') {
      return { kind: 'unproven', mayPass: isLookUpRetried(lookedUp.failure.class), detail: lookedUp.failure.detail };
    }
    if (lookedUp.kind === 'found') return { kind: 'changed' };
    // Work that is no purchase spends nothing: an eSIM that was read unchanged is proof enough.
    if (!KINDS[work.kind].isPurchase) return undefined;
    if (!(await isControlled(work, attempt))) {
      const noun = KINDS[work.kind].noun;
      const detail = `The same look-up does not find our newest delivered ${noun} either: its answer proves nothing.`;
      return { kind: 'awaited', reason: 'no_control', detail };
    }
    const result = await readDebitEvidence({ work, attemptId: attempt.id });
    if (result.evidence === 'no_debit') return undefined;
    if (result.evidence === 'awaited') {
      const { reason, detail, againInMs } = result;
      return { kind: 'awaited', reason, detail, ...(againInMs !== undefined && { againInMs }) };
    }
    return { kind: 'unproven', mayPass: result.mayPass ?? false, detail: result.detail };
  };

  /** Makes the same call, after its empty answer, for our newest delivered purchase. */
  const isControlled = async (work: WorkRef, attempt: AttemptRow): Promise<boolean> => {
    const control = await database.run((db) => newestDelivered(db, work.kind, attempt.id));
    if (control === undefined) return true;
    // Without its id, it is searched in the list.
    return (await handlers[work.kind].lookUp({ ...control, serviceId: null })).kind === 'found';
  };

  return async ({ work, attemptId }): Promise<AbsenceResult> => {
    const { attempt, inForce } = await database.run(async (db) => ({
      attempt: await findAttemptById(db, attemptId),
      inForce: await purchaseInForce(db),
    }));
    if (!isOpen(attempt)) return { kind: 'changed' };
    // Revoked since the workflow began: a proof would lead to no send.
    if (!inForce.resendAllowed)
      return { kind: 'unproven', mayPass: false, detail: 'Resends are not allowed at this service.' };
    const otherwise = await absenceOf(work, attempt);
    if (otherwise !== undefined) return otherwise;
    return database.transaction(async (tx) => {
      await lockUnfinishedWork(tx, work);
      return { kind: (await restartResendWindow(tx, attempt)) ? 'absent' : 'changed' };
    });
  };
}

/** A `sending` attempt left no result when its workflow comes here; `restartResendWindow` checks its lease. */
function isOpen({ state }: AttemptRow): boolean {
  return state === 'unknown' || state === 'sending';
}
