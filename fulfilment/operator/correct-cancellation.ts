/** Stores an operator's verdict on a cancelled eSIM and its refund. */
import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { refunds } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { cancellationOutcome } from '#domain/cancellation/refund.ts';
import type { CaseVerdict, OperatorAction } from '#domain/operator/operator-actions.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import type { AttemptEvent } from '#domain/work/attempt-lifecycle.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { knownReports, storeCancellationReport, undoCancelled } from '#fulfilment/work/cancellation.ts';
import { expectRefund, nameRefund } from '#fulfilment/work/refunds.ts';

export type Resolution = Extract<OperatorAction, { action: 'resolve' }>;

/** Sets eSIM and refund to the operator's verdict. */
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

/** What the verdict that the eSIM is cancelled means for the attempt: its refund may still be waited for. */
export async function verdictOfCancelled(tx: Executor, { subjectId }: AttemptRow): Promise<AttemptEvent> {
  return VERDICT_OF_CANCELLED[cancellationOutcome(await knownReports(tx, subjectId))];
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
