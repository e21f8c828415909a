import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import { findAttemptById, newestDelivered } from '#db/work/attempts.ts';
import { type AttemptRow, lockUnfinishedWork } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { isLookUpRetried } from '#domain/policy/purchase-policy.ts';
import type { AbsenceResult, AttemptRef } from '#domain/purchase/results.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import type { PurchaseDependencies } from '#fulfilment/purchase/dependencies.ts';
import { readDebitEvidence } from '#fulfilment/purchase/evidence.ts';
import { SERVICE_CALLS } from '#fulfilment/purchase/kinds.ts';

/**
 * The proof: a complete list without the attempt, a control of that list, and a reading of the wallet. A request may
 * still be on its way, so the attempt stays unknown and only its resend window restarts, for the same key. This needs
 * a service that replays keys (`docs/adr/0018-absence-restarts-the-resend-window.md`).
 */
export async function proveAbsence(
  dependencies: PurchaseDependencies,
  { work, attemptId }: AttemptRef,
): Promise<AbsenceResult> {
  const { database, purchaseInForce } = dependencies;
  const { attempt, inForce } = await database.run(async (db) => ({
    attempt: await findAttemptById(db, attemptId),
    inForce: await purchaseInForce(db),
  }));
  // A `sending` attempt left no result when its workflow comes here; its lease is checked below.
  if (attempt.state !== 'unknown' && attempt.state !== 'sending') return { kind: 'changed' };
  // Revoked since the workflow began: a proof would lead to no send.
  if (!inForce.resendAllowed)
    return { kind: 'unproven', mayPass: false, detail: 'Resends are not allowed at this service.' };
  const evidence = await absenceOf(dependencies, work, attempt);
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
}

/** @returns the evidence as a sentence, or what else was seen. */
async function absenceOf(
  dependencies: PurchaseDependencies,
  work: WorkRef,
  attempt: AttemptRow,
): Promise<AbsenceResult | string> {
  const readAt = new Date(dependencies.now()).toISOString();
  const lookedUp = await SERVICE_CALLS[work.kind].lookUp(dependencies, attempt);
  if (lookedUp.kind === 'unavailable') {
    return { kind: 'unproven', mayPass: isLookUpRetried(lookedUp.failure.class), detail: lookedUp.failure.detail };
  }
  if (lookedUp.kind === 'found') return { kind: 'changed' };
  const { noun, isPurchase } = KINDS[work.kind];
  // Work that is no purchase spends nothing: an eSIM that was read unchanged is proof enough.
  if (!isPurchase) return `The service shows the eSIM unchanged at ${readAt}.`;
  const control = await controlOf(dependencies, work, attempt);
  if (control === 'not_found') {
    const detail = `The same look-up does not find our newest delivered ${noun} either: its answer proves nothing.`;
    return { kind: 'awaited', reason: 'no_control', detail };
  }
  const result = await readDebitEvidence(dependencies, { work, attemptId: attempt.id });
  if (result.evidence === 'awaited') {
    const { evidence: _evidence, ...awaited } = result;
    return { kind: 'awaited', ...awaited };
  }
  if (result.evidence !== 'no_debit')
    return { kind: 'unproven', mayPass: result.mayPass ?? false, detail: result.detail };
  return (
    `The service does not list attempt ${attempt.number} at ${readAt}. ` +
    (control === 'none'
      ? `No ${noun} was delivered before, so the look-up has no control.`
      : `The same look-up then found our newest delivered ${noun}, ${control}.`)
  );
}

/** The same call for our newest delivered purchase, after the empty answer. @returns the id of its work. */
async function controlOf(dependencies: PurchaseDependencies, work: WorkRef, attempt: AttemptRow): Promise<string> {
  const control = await dependencies.database.run((db) => newestDelivered(db, work.kind, attempt.id));
  if (control === undefined) return 'none';
  // Without its id, it is searched in the list.
  const { kind } = await SERVICE_CALLS[work.kind].lookUp(dependencies, { ...control, serviceId: null });
  return kind === 'found' ? control.subjectId : 'not_found';
}

/**
 * The caller holds the lock of the work. `attempt` is as it was before the service was read: the evidence says nothing
 * about a later send. @returns false, without a change, when its result is known, it was sent since, or a send may be
 * under way. A `sending` attempt whose lease has ended is unknown.
 */
async function restartResendWindow(tx: Executor, { id, sends }: AttemptRow): Promise<boolean> {
  const isOver = sql`coalesce(${attempts.leaseUntil} <= clock_timestamp(), true)`;
  const changed = await tx
    .update(attempts)
    .set({ firstUnrefusedSendAt: sql`clock_timestamp()` })
    .where(and(eq(attempts.id, id), inArray(attempts.state, ['unknown', 'sending']), eq(attempts.sends, sends), isOver))
    .returning({ id: attempts.id });
  return changed.length > 0;
}
