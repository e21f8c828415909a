import { and, eq, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { lookAgainAt } from '#db/esims/esim-queries.ts';
import { cancellations, esims, refunds, walletMovements } from '#db/schema.ts';
import { findCancellationInForce, findRefund } from '#db/work/cancellations.ts';
import type { CancellationRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { isCancelled, mergeReports, type CancellationReport } from '#domain/cancellation/refund.ts';
import type { PurchaseEvent } from '#domain/relay/observation.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { wakeHeldOfEsim } from '#fulfilment/work/change.ts';
import { settlePaidRefunds, storeRefund } from '#fulfilment/work/refunds.ts';

export async function knownReports(db: Executor, cancellationId: string): Promise<CancellationReport> {
  const [row] = await db
    .select({ cancelledAt: cancellations.cancelledAt })
    .from(cancellations)
    .where(eq(cancellations.id, cancellationId));
  const refund = await findRefund(db, cancellationId);
  return {
    ...(row?.cancelledAt != null && { esim: 'cancelled' as const }),
    ...(refund?.serviceState != null && { refund: { state: refund.serviceState, review: refund.review ?? undefined } }),
  };
}

/** Parts that the report does not contain stay. The caller holds the lock of the work. */
export async function storeCancellationReport(
  tx: Executor,
  work: WorkRef,
  report: CancellationReport,
  now: Date,
): Promise<void> {
  const known = await knownReports(tx, work.id);
  const all = mergeReports(known, report);
  const newlyCancelled = isCancelled(all) && known.esim !== 'cancelled';
  const expectsRefund =
    newlyCancelled && (await noteCancelled(tx, work, now)).onUnmetConditions !== 'cancel_without_refund';
  if (all.refund !== undefined || expectsRefund) await storeRefund(tx, work, { ...report, refund: all.refund }, now);
  if (newlyCancelled) await settleBookedRefund(tx, work, now);
}

/** The books may have found the credit before the eSIM was known to be cancelled. */
async function settleBookedRefund(tx: Executor, work: WorkRef, now: Date): Promise<void> {
  const booked = await tx
    .select({
      orderId: esims.orderId,
      movementId: walletMovements.serviceId,
      amount: walletMovements.amount,
      currency: walletMovements.currency,
    })
    .from(cancellations)
    .innerJoin(esims, eq(esims.id, cancellations.esimId))
    .innerJoin(
      walletMovements,
      and(
        eq(walletMovements.causeKind, 'refund'),
        eq(walletMovements.causeId, esims.orderId),
        eq(walletMovements.direction, 'credit'),
      ),
    )
    .where(eq(cancellations.id, work.id));
  await settlePaidRefunds(
    tx,
    booked.map(({ orderId, movementId, amount, currency }) => ({ orderId, movementId, money: { amount, currency } })),
    now,
  );
}

async function noteCancelled(tx: Executor, work: WorkRef, now: Date): Promise<CancellationRow> {
  const [row] = await tx
    .update(cancellations)
    .set({ cancelledAt: sql`coalesce(${cancellations.cancelledAt}, ${now})` })
    .where(eq(cancellations.id, work.id))
    .returning();
  if (row?.esimId == null) throw new Error(`cancellation ${work.id} has no eSIM`);
  await markCancelled(tx, row.esimId);
  const event = 'cancellation.esim_cancelled';
  await addTimelineEntry(tx, work, { event, message: 'The service has cancelled the eSIM.', dedupKey: event, at: now });
  return row;
}

/** Held top-ups of the eSIM are woken: they fail now. */
async function markCancelled(tx: Executor, esimId: string): Promise<void> {
  await tx
    .update(esims)
    .set({ status: 'cancelled', updatedAt: sql`now()` })
    .where(eq(esims.id, esimId));
  await wakeHeldOfEsim(tx, 'topup', esimId);
}

/**
 * No cancellation of ours is in force. A refund alone does not prove that the eSIM is cancelled: it is read soon. The
 * books find the cause of the credit. @returns undefined when the report is not about such an eSIM.
 */
export async function storeEsimReport(
  tx: Executor,
  { serviceEsimId, cancellation }: Pick<PurchaseEvent, 'serviceEsimId' | 'cancellation'>,
  now: Date,
): Promise<{ readonly order: WorkRef; readonly note: string } | undefined> {
  if (serviceEsimId === undefined || cancellation === undefined) return undefined;
  const [esim] = await tx.select().from(esims).where(eq(esims.serviceEsimId, serviceEsimId)).for('update');
  if (esim === undefined || (await findCancellationInForce(tx, esim.id)) !== undefined) return undefined;
  const order = { kind: 'order', id: esim.orderId } as const;
  if (cancellation.esim !== 'cancelled') {
    if (cancellation.refund === undefined) return undefined;
    if (esim.status !== 'cancelled') await lookAgainAt(tx, esim.id, now);
    return { order, note: `A refund (${cancellation.refund.state}) that we have not requested.` };
  }
  await markCancelled(tx, esim.id);
  const note = 'The service has cancelled the eSIM. We have not requested it.';
  const event = 'order.esim_cancelled';
  await addTimelineEntry(tx, order, { event, message: note, dedupKey: event, at: now });
  return { order, note };
}

/** An operator calls it not done. The status of the eSIM at the service is unknown then. */
export async function undoCancelled(tx: Executor, work: WorkRef): Promise<void> {
  const [row] = await tx
    .update(cancellations)
    .set({ cancelledAt: null })
    .where(eq(cancellations.id, work.id))
    .returning();
  await tx.delete(refunds).where(eq(refunds.cancellationId, work.id));
  if (row?.esimId == null) return;
  await tx
    .update(esims)
    .set({ status: 'unknown', updatedAt: sql`now()` })
    .where(and(eq(esims.id, row.esimId), eq(esims.status, 'cancelled')));
}
