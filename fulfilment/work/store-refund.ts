/** Storing what the service, or an operator, reports of a refund. */
import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { cancellations, esims, refunds } from '#db/schema.ts';
import { findRefund } from '#db/work/cancellation-queries.ts';
import type { RefundRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { refundStatusAfterReport } from '#domain/cancellation/refund-lifecycle.ts';
import { refundStatusOf, type CancellationReport } from '#domain/cancellation/refund.ts';
import { equalMoney, plainText, type Money } from '#domain/money/money.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { announceRefund, openContradiction } from '#fulfilment/work/work-events.ts';

/** A report of the service about a cancellation. */
export interface CancellationDetails extends CancellationReport {
  readonly serviceRefundId?: string | undefined;
  /** The amount given back to the reseller. */
  readonly refunded?: Money | undefined;
}

/** Stores an expected refund when there is none yet. */
export async function expectRefund(tx: Executor, work: WorkRef, now: Date): Promise<void> {
  if ((await findRefund(tx, work.id)) === undefined) await storeRefund(tx, work, {}, now);
}

/** Stores the refund id that an operator named. */
export async function nameRefund(tx: Executor, work: WorkRef, serviceRefundId: string, now: Date): Promise<void> {
  await expectRefund(tx, work, now);
  await tx.update(refunds).set({ serviceRefundId }).where(eq(refunds.cancellationId, work.id));
}

/** Stores a report about a refund. Without a report the refund counts as expected. A settled refund stays settled. */
export async function storeRefund(
  tx: Executor,
  work: WorkRef,
  { refund, serviceRefundId, refunded }: CancellationDetails,
  now: Date,
): Promise<void> {
  // Locked: the books settle a refund without the lock of its work.
  const [known] = await tx.select().from(refunds).where(eq(refunds.cancellationId, work.id)).for('update');
  if (known?.verdict === 'refunded') return;
  await reportOtherRefund(tx, work, known, refunded, now);
  const values = {
    status: refundStatusAfterReport(known?.status, refund === undefined ? 'expected' : refundStatusOf(refund)),
    serviceState: refund?.state ?? null,
    review: refund?.review ?? null,
    serviceRefundId: known?.serviceRefundId ?? serviceRefundId ?? null,
    amount: refunded?.amount ?? known?.amount ?? null,
    currency: refunded?.currency ?? known?.currency ?? null,
    updatedAt: now,
  };
  if (known === undefined) {
    const [row] = await tx
      .select({ esimId: esims.id, orderId: esims.orderId })
      .from(cancellations)
      .innerJoin(esims, eq(esims.id, cancellations.esimId))
      .where(eq(cancellations.id, work.id));
    if (row === undefined) throw new Error(`cancellation ${work.id} has no eSIM`);
    await tx
      .insert(refunds)
      .values({ id: newId('refund'), cancellationId: work.id, ...row, ...values, createdAt: now });
  } else {
    await tx.update(refunds).set(values).where(eq(refunds.id, known.id));
  }
  await announceRefund(tx, work.id, now);
  const { serviceState: state, review } = values;
  if (state === null) return;
  // The same report has the same key and is written once.
  await addTimelineEntry(tx, work, {
    event: `refund.${state}`,
    message:
      `The service reports the refund as ${state}` +
      (review === null ? '.' : ` (review: ${review.replace('_', ' ')}).`),
    dedupKey: `refund.${state}:${review ?? ''}`,
    at: now,
  });
}

/**
 * Opens a case when the service reports another amount for a refund than before. The newer amount counts: the wallet is
 * searched for it.
 */
async function reportOtherRefund(
  tx: Executor,
  work: WorkRef,
  known: RefundRow | undefined,
  told: Money | undefined,
  now: Date,
): Promise<void> {
  if (known?.amount == null || known.currency === null || told === undefined) return;
  const before = { amount: known.amount, currency: known.currency };
  if (equalMoney(before, told)) return;
  const detail = `The service reported a refund of ${plainText(before)} before, and now reports ${plainText(told)}.`;
  await openContradiction(tx, work, detail, now);
}
