import { findAttemptById, newestDelivered } from '#db/work/attempts.ts';
import { type AttemptRow, lockUnfinishedWork } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { isLookUpRetried } from '#domain/policy/purchase-policy.ts';
import type { AbsenceResult, PurchaseActivities } from '#domain/purchase/results.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { restartResendWindow } from '#fulfilment/attempts/recover.ts';
import type { WorkHandlers, WorkDependencies } from '#fulfilment/purchase/handler.ts';

/**
 * The proof: a complete list without the attempt, a control of that list, and a reading of the wallet. A request may
 * still be on its way, so the attempt stays unknown and only its resend window restarts, for the same key. This needs
 * a service that replays keys (`docs/adr/0018-absence-restarts-the-resend-window.md`).
 */
export function createAbsenceProof(
  { database, purchaseInForce, now }: WorkDependencies,
  handlers: WorkHandlers,
  readDebitEvidence: PurchaseActivities['readDebitEvidence'],
): PurchaseActivities['proveAbsence'] {
  /** @returns the evidence as a sentence, or what else was seen. */
  const absenceOf = async (work: WorkRef, attempt: AttemptRow): Promise<AbsenceResult | string> => {
    const readAt = new Date(now()).toISOString();
    const lookedUp = await handlers[work.kind].lookUp(attempt);
    if (lookedUp.kind === 'unavailable') {
      return { kind: 'unproven', mayPass: isLookUpRetried(lookedUp.failure.class), detail: lookedUp.failure.detail };
    }
    if (lookedUp.kind === 'found') return { kind: 'changed' };
    // Work that is no purchase spends nothing: an eSIM that was read unchanged is proof enough.
    if (!KINDS[work.kind].isPurchase) return `The service shows the eSIM unchanged at ${readAt}.`;
    const { noun } = KINDS[work.kind];
    const control = await controlOf(work, attempt);
    if (control === 'not_found') {
      const detail = `The same look-up does not find our newest delivered ${noun} either: its answer proves nothing.`;
      return { kind: 'awaited', reason: 'no_control', detail };
    }
    const result = await readDebitEvidence({ work, attemptId: attempt.id });
    if (result.evidence === 'no_debit')
      return (
        `The service does not list attempt ${attempt.number} at ${readAt}. ` +
        (control === 'none'
          ? `No ${noun} was delivered before, so the look-up has no control.`
          : `The same look-up then found our newest delivered ${noun}, ${control}.`)
      );
    if (result.evidence === 'awaited') {
      const { reason, detail, againInMs } = result;
      return { kind: 'awaited', reason, detail, ...(againInMs !== undefined && { againInMs }) };
    }
    return { kind: 'unproven', mayPass: result.mayPass ?? false, detail: result.detail };
  };

  /** The same call for our newest delivered purchase, after the empty answer. @returns the id of its work. */
  const controlOf = async (work: WorkRef, attempt: AttemptRow): Promise<string> => {
    const control = await database.run((db) => newestDelivered(db, work.kind, attempt.id));
    if (control === undefined) return 'none';
    // Without its id, it is searched in the list.
    const { kind } = await handlers[work.kind].lookUp({ ...control, serviceId: null });
    return kind === 'found' ? control.subjectId : 'not_found';
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
    const evidence = await absenceOf(work, attempt);
    if (typeof evidence !== 'string') return evidence;
    return database.transaction(async (tx) => {
      await lockUnfinishedWork(tx, work);
      if (!(await restartResendWindow(tx, attempt))) return { kind: 'changed' };
      const { number, sends } = attempt;
      await addTimelineEntry(tx, work, {
        event: 'attempt.not_listed',
        message: evidence,
        detail: { attempt: number, sends },
        dedupKey: `attempt.not_listed:${number}:${sends}`,
      });
      return { kind: 'absent' };
    });
  };
}

/** A `sending` attempt left no result when its workflow comes here; `restartResendWindow` checks its lease. */
function isOpen({ state }: AttemptRow): boolean {
  return state === 'unknown' || state === 'sending';
}
