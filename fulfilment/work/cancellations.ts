import { and, desc, eq, inArray, isNotNull, notExists } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts, cancellations, esims, refunds } from '#db/schema.ts';
/** Cancellations as the API accepts them and as their activities see them, beyond what all work has (`work.ts`). */
import type { CancellationRow } from '#db/work/rows.ts';
import type { RefundCondition } from '#domain/cancellation/refund-conditions.ts';
import type { CaseVerdict } from '#domain/work/operator-actions.ts';
import type { WorkRef } from '#domain/work/work.ts';
import { acceptWork, intakeColumns, type Intake, type NewWork } from '#fulfilment/work/accept-work.ts';
import { expectRefund, isInForce } from '#fulfilment/work/refunds.ts';
import { newsColumns } from '#fulfilment/work/work-events.ts';
import { WorkMissingError } from '#fulfilment/work/work.ts';

/** A cancellation with the eSIM that it is about. */
export interface CancellationOfEsim {
  readonly cancellation: CancellationRow;
  readonly esim: typeof esims.$inferSelect;
}

/** @throws WorkMissingError */
export async function readCancellation(db: Executor, id: string): Promise<CancellationOfEsim> {
  const [row] = await db
    .select({ cancellation: cancellations, esim: esims })
    .from(cancellations)
    .innerJoin(esims, eq(esims.id, cancellations.esimId))
    .where(eq(cancellations.id, id));
  if (row === undefined) throw new WorkMissingError({ kind: 'cancellation', id });
  return row;
}

export interface NewCancellation extends Omit<NewWork, 'maxPrice'> {
  /** Ours; it exists. */
  readonly esimId: string;
  readonly reason: string | null;
  readonly acceptWithoutRefund: boolean;
}

/** Accepts a cancellation, in the caller's transaction; one of an eSIM at a time. */
export async function acceptCancellation(tx: Executor, cancellation: NewCancellation, now: Date): Promise<Intake> {
  const { id, esimId, reason, acceptWithoutRefund } = cancellation;
  const values = { ...intakeColumns({ ...cancellation, maxPrice: null }, now), esimId, reason, acceptWithoutRefund };
  return acceptWork(
    tx,
    { kind: 'cancellation', id },
    {
      insert: () =>
        tx.insert(cancellations).values(values).onConflictDoNothing().returning(newsColumns('cancellation')),
      holder: () =>
        tx
          .select({ id: cancellations.id })
          .from(cancellations)
          .where(eq(cancellations.esimId, esimId))
          // The one in the way may have been refused at this very moment; it is the newest all the same.
          .orderBy(desc(cancellations.createdAt))
          .limit(1),
      detail: { esim_id: esimId, accept_without_refund: acceptWithoutRefund },
    },
    now,
  );
}

/**
 * Keeps what the conditions of the refund were judged by, just before a send; not after one may have reached the
 * service.
 */
export async function storePreflight(db: Executor, id: string, conditions: readonly RefundCondition[]): Promise<void> {
  const takenUp = db
    .select({ id: attempts.id })
    .from(attempts)
    .where(
      and(
        eq(attempts.subjectKind, 'cancellation'),
        eq(attempts.subjectId, id),
        inArray(attempts.state, ['sending', 'unknown', 'processing', 'completed', 'failed']),
        eq(attempts.settled, false),
      ),
    );
  await db
    .update(cancellations)
    .set({ preflight: conditions })
    .where(and(eq(cancellations.id, id), notExists(takenUp)));
}

/** Takes a person's word for the refund of a cancelled eSIM: its money came, or it is not waited for any more. */
export async function judgeRefundByPerson(tx: Executor, work: WorkRef, verdict: CaseVerdict, now: Date): Promise<void> {
  if (verdict !== 'refunded' && verdict !== 'dismissed') return;
  // Where no refund was ever named there is no row yet to say it in.
  await expectRefund(tx, work, now);
  await tx.update(refunds).set({ verdict }).where(eq(refunds.cancellationId, work.id));
}

/** The id of the cancellation because of which no other of this eSIM is made: one that goes on, or has cancelled it. */
export async function findCancellationInForce(db: Executor, esimId: string): Promise<string | undefined> {
  const [row] = await db
    .select({ id: cancellations.id })
    .from(cancellations)
    .where(and(eq(cancellations.esimId, esimId), isInForce));
  return row?.id;
}

/** True when the eSIM of a cancellation is known to be cancelled. */
export async function isCancelledAlready(db: Executor, id: string): Promise<boolean> {
  const [row] = await db.select({ at: cancellations.cancelledAt }).from(cancellations).where(eq(cancellations.id, id));
  return row?.at != null;
}

/** Those of some cancellations whose eSIM is known to be cancelled. */
export async function cancelledAmong(db: Executor, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db
    .select({ id: cancellations.id })
    .from(cancellations)
    .where(and(inArray(cancellations.id, [...ids]), isNotNull(cancellations.cancelledAt)));
  return new Set(rows.map(({ id }) => id));
}
