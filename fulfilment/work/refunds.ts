import { and, eq, inArray, isNotNull, isNull, notInArray, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { cancellations, esims, refunds, walletMovements } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
/** What the service says of a cancellation and its refund, as rows; told by answers, reads and events alike. */
import type { RefundRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import {
  GIVEN_UP_REFUND,
  PAID_REFUND,
  REFUND_NEEDING_ATTENTION,
  refundStatusAfterReport,
} from '#domain/cancellation/refund-lifecycle.ts';
import {
  isCancelled,
  refundOfCredit,
  refundStatusOf,
  mergeReports,
  type CancellationReport,
} from '#domain/cancellation/refund.ts';
import { equalMoney, plainText, type Money } from '#domain/money/money.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import type { WorkRef } from '#domain/work/work.ts';
import { announceRefund } from '#fulfilment/work/work-events.ts';

/** What the service says of a cancellation. */
export interface CancellationFacts extends CancellationReport {
  readonly serviceRefundId?: string | undefined;
  /** The amount given back to the reseller. */
  readonly refunded?: Money | undefined;
}

/**
 * Of a cancellation that goes on, or has cancelled its eSIM; as in the condition of the unique index
 * `cancellations_one_of_esim`.
 */
export const isInForce = notInArray(cancellations.status, ['refused', 'abandoned']);

export async function findRefund(db: Executor, cancellationId: string): Promise<RefundRow | undefined> {
  const [row] = await db.select().from(refunds).where(eq(refunds.cancellationId, cancellationId));
  return row;
}

/** What is known of a cancellation so far, in the form in which the service would say it. */
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

/** Stores what the service says. What it does not say stays. The caller holds the lock of the work. */
export async function storeCancellationFacts(
  tx: Executor,
  work: WorkRef,
  told: CancellationFacts,
  now: Date,
): Promise<void> {
  const known = await knownReports(tx, work.id);
  const word = mergeReports(known, told);
  const newlyCancelled = isCancelled(word) && known.esim !== 'cancelled';
  const expectsRefund = newlyCancelled && !(await noteCancelled(tx, work, now)).acceptWithoutRefund;
  if (word.refund !== undefined || expectsRefund) await storeRefund(tx, work, { ...told, refund: word.refund }, now);
  if (newlyCancelled) await settleBookedRefund(tx, work, now);
}

/** The books may have had the credit before anybody knew that the eSIM is cancelled. */
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

/** The eSIM is known to be cancelled from now on. */
async function noteCancelled(tx: Executor, work: WorkRef, now: Date): Promise<typeof cancellations.$inferSelect> {
  const [row] = await tx
    .update(cancellations)
    .set({ cancelledAt: sql`coalesce(${cancellations.cancelledAt}, ${now})` })
    .where(eq(cancellations.id, work.id))
    .returning();
  if (row?.esimId == null) throw new Error(`cancellation ${work.id} has no eSIM`);
  await tx
    .update(esims)
    .set({ status: 'cancelled', updatedAt: sql`now()` })
    .where(eq(esims.id, row.esimId));
  const event = 'cancellation.esim_cancelled';
  await addTimelineEntry(tx, work, { event, message: 'The service has cancelled the eSIM.', dedupKey: event, at: now });
  return row;
}

/** A refund is expected, whatever has been said of it. */
export async function expectRefund(tx: Executor, work: WorkRef, now: Date): Promise<void> {
  if ((await findRefund(tx, work.id)) === undefined) await storeRefund(tx, work, {}, now);
}

/** A person names the refund at the service. */
export async function nameRefund(tx: Executor, work: WorkRef, serviceRefundId: string, now: Date): Promise<void> {
  await expectRefund(tx, work, now);
  await tx.update(refunds).set({ serviceRefundId }).where(eq(refunds.cancellationId, work.id));
}

/**
 * Where nothing is said of a refund, one is expected all the same. What is settled stays settled; what is said of it is
 * noted.
 */
async function storeRefund(
  tx: Executor,
  work: WorkRef,
  { refund, serviceRefundId, refunded }: CancellationFacts,
  now: Date,
): Promise<void> {
  // Locked: the books settle a refund without the lock of its work.
  const [known] = await tx.select().from(refunds).where(eq(refunds.cancellationId, work.id)).for('update');
  if (known?.verdict === 'refunded') return;
  await reportOtherRefund(tx, work, known, refunded);
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
  // The same word again has the same key, and is written once.
  await addTimelineEntry(tx, work, {
    event: `refund.${state}`,
    message: `The service says of the refund: ${state}${review === null ? '' : ` (review: ${review.replace('_', ' ')})`}.`,
    dedupKey: `refund.${state}:${review ?? ''}`,
    at: now,
  });
}

/**
 * Opens a case when the service names another amount for a refund than it did before. The newer one counts: it is
 * looked for in the wallet.
 */
async function reportOtherRefund(
  tx: Executor,
  work: WorkRef,
  known: RefundRow | undefined,
  told: Money | undefined,
): Promise<void> {
  if (known?.amount == null || known.currency === null || told === undefined) return;
  const before = { amount: known.amount, currency: known.currency };
  if (equalMoney(before, told)) return;
  await openCase(
    tx,
    work,
    'contradiction',
    `The service named ${plainText(before)} as the refund, and now names ${plainText(told)}.`,
  );
}

/** Shows a refund as settled. @param completed the money is in the wallet. */
export async function settleRefund(tx: Executor, cancellationId: string, completed: boolean, now: Date): Promise<void> {
  const { status, from } = completed ? PAID_REFUND : GIVEN_UP_REFUND;
  await tx
    .update(refunds)
    .set({ status, updatedAt: now, ...(completed && { completedAt: now }) })
    .where(and(eq(refunds.cancellationId, cancellationId), inArray(refunds.status, from)));
  await announceRefund(tx, cancellationId, now);
}

/** Shows that a refund waits for a person, with its cancellation. What is settled stays. */
export async function parkRefund(tx: Executor, cancellationId: string, now: Date): Promise<void> {
  await tx
    .update(refunds)
    .set({ status: REFUND_NEEDING_ATTENTION.status, updatedAt: now })
    .where(and(eq(refunds.cancellationId, cancellationId), inArray(refunds.status, REFUND_NEEDING_ATTENTION.from)));
  await announceRefund(tx, cancellationId, now);
}

/** A credit of the wallet that is the refund of an order. */
export interface PaidRefund {
  readonly orderId: string;
  /** The service's, of its wallet. */
  readonly movementId: string;
  readonly money: Money;
}

/**
 * The wallet has shown these credits: the refunds that they are, of what was told of their amounts, are completed. A
 * cancellation that still waits for the service's word goes on.
 */
export async function settlePaidRefunds(tx: Executor, credits: readonly PaidRefund[], now: Date): Promise<void> {
  for (const credit of credits) {
    const refundId = await namedRefund(tx, credit);
    const paid = refundOfCredit(await refundsOfOrder(tx, credit.orderId), { refundId, money: credit.money });
    if (paid === undefined) {
      await settleUntoldRefund(tx, credit, refundId, now);
    } else if (paid.status !== 'completed') {
      await settleRefund(tx, paid.cancellationId, true, now);
      await requestWake(tx, { kind: 'cancellation', id: paid.cancellationId });
    }
  }
}

/** The service's id of the refund that its wallet names with a credit. */
async function namedRefund(tx: Executor, { movementId }: PaidRefund): Promise<string | null> {
  const [movement] = await tx
    .select({ refundId: walletMovements.refundId })
    .from(walletMovements)
    .where(eq(walletMovements.serviceId, movementId));
  return movement?.refundId ?? null;
}

/** All refunds of an order, locked: what the service says of them is stored without the books. */
async function refundsOfOrder(tx: Executor, orderId: string) {
  const rows = await tx
    .select({ refund: refunds, isInForce: sql<boolean>`${isInForce}` })
    .from(refunds)
    .innerJoin(cancellations, eq(cancellations.id, refunds.cancellationId))
    .where(eq(refunds.orderId, orderId))
    .orderBy(refunds.createdAt)
    .for('update', { of: refunds });
  return rows.map(({ refund: { cancellationId, status, serviceRefundId, amount, currency }, isInForce: counts }) => ({
    cancellationId,
    status,
    serviceRefundId,
    reportedAmount: amount === null || currency === null ? undefined : { amount, currency },
    isInForce: counts,
  }));
}

/** Nobody has said a word of the refund of a cancelled eSIM, or of its amount; the credit says it. */
async function settleUntoldRefund(
  tx: Executor,
  { orderId, money }: PaidRefund,
  refundId: string | null,
  now: Date,
): Promise<void> {
  const [untold] = await tx
    .select({ id: cancellations.id, status: cancellations.status })
    .from(cancellations)
    .innerJoin(esims, eq(esims.id, cancellations.esimId))
    .leftJoin(refunds, eq(refunds.cancellationId, cancellations.id))
    .where(
      and(
        eq(esims.orderId, orderId),
        isNotNull(cancellations.cancelledAt),
        isInForce,
        isNull(refunds.amount),
        isNull(refunds.completedAt),
      ),
    );
  if (untold === undefined) return;
  const work = { kind: 'cancellation', id: untold.id } as const;
  await expectRefund(tx, work, now);
  const named = refundId === null ? {} : { serviceRefundId: refundId };
  await tx
    .update(refunds)
    .set({ ...named, amount: money.amount, currency: money.currency })
    .where(eq(refunds.cancellationId, work.id));
  await settleRefund(tx, work.id, true, now);
  if (!isFinal(untold.status)) await requestWake(tx, work);
}

/**
 * A person says that the eSIM is not cancelled: what the attempt before has left is undone. How the service calls the
 * eSIM is not known then.
 */
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
