/** Completes a refund when its credit is in the wallet, or gives it up. */
import { and, eq, inArray, isNotNull, isNull, ne, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { debitOfOrder } from '#db/money/wallet-movements.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { cancellations, esims, refunds, walletMovements } from '#db/schema.ts';
import { isInForce } from '#db/work/cancellation-queries.ts';
import { openCaseOnce } from '#db/work/cases.ts';
import { GIVEN_UP_REFUND, PAID_REFUND, REFUND_NEEDING_ATTENTION } from '#domain/cancellation/refund-lifecycle.ts';
import { judgeCredit, otherCreditText, refundOfCredit } from '#domain/cancellation/refund.ts';
import type { Money } from '#domain/money/money.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { expectRefund } from '#fulfilment/work/store-refund.ts';
import { announceRefund } from '#fulfilment/work/work-events.ts';

/** Settles a refund. @param completed true when the money is in the wallet. */
export async function settleRefund(tx: Executor, cancellationId: string, completed: boolean, now: Date): Promise<void> {
  const { status, from } = completed ? PAID_REFUND : GIVEN_UP_REFUND;
  await tx
    .update(refunds)
    .set({ status, updatedAt: now, ...(completed && { completedAt: now }) })
    .where(and(eq(refunds.cancellationId, cancellationId), inArray(refunds.status, from)));
  await announceRefund(tx, cancellationId, now);
}

/** Marks a refund as needing attention, like its cancellation. A settled refund is not changed. */
export async function markRefundNeedsAttention(tx: Executor, cancellationId: string, now: Date): Promise<void> {
  await tx
    .update(refunds)
    .set({ status: REFUND_NEEDING_ATTENTION.status, updatedAt: now })
    .where(and(eq(refunds.cancellationId, cancellationId), inArray(refunds.status, REFUND_NEEDING_ATTENTION.from)));
  await announceRefund(tx, cancellationId, now);
}

/** A wallet credit that refunds an order. */
export interface PaidRefund {
  readonly orderId: string;
  /** The service's id of the wallet movement. */
  readonly movementId: string;
  readonly money: Money;
}

/**
 * Completes the refunds that these credits pay. A cancellation that still waits for a report is woken. A credit that is
 * not what was debited opens a case, and settles only a refund that the service reported like this.
 */
export async function settlePaidRefunds(tx: Executor, credits: readonly PaidRefund[], now: Date): Promise<void> {
  for (const credit of credits) {
    const { orderId, money } = credit;
    const refundId = await namedRefund(tx, credit);
    const known = await refundsOfOrder(tx, orderId);
    const debit = await debitOfOrder(tx, orderId);
    const refund =
      refundOfCredit(known, { refundId, money }) ??
      known.find(({ serviceRefundId }) => serviceRefundId !== null && serviceRefundId === refundId) ??
      known.find(({ isInForce: counts, reportedAmount }) => counts && reportedAmount !== undefined);
    if (refund === undefined || refund.reportedAmount === undefined) {
      await settleUnreportedRefund(tx, credit, { refundId, debit }, now);
    } else if (refund.status !== 'completed') {
      const work = { kind: 'cancellation', id: refund.cancellationId } as const;
      if (await mayBeSettled(tx, work, money, { debit, reported: refund.reportedAmount })) {
        await settleRefund(tx, work.id, true, now);
        await requestWake(tx, work);
      }
    }
  }
}

/** Judges a credit, and opens a case when it is not what was debited. @returns whether it settles the refund. */
async function mayBeSettled(
  tx: Executor,
  work: WorkRef,
  money: Money,
  expected: { readonly debit: Money | undefined; readonly reported: Money | undefined },
): Promise<boolean> {
  const verdict = judgeCredit(money, expected);
  if (verdict !== 'settles')
    await openCaseOnce(tx, work, 'amount_differs', otherCreditText(money, expected), undefined);
  return verdict !== 'other_amount';
}

/** The service's id of the refund that a wallet credit names. */
async function namedRefund(tx: Executor, { movementId }: PaidRefund): Promise<string | null> {
  const [movement] = await tx
    .select({ refundId: walletMovements.refundId })
    .from(walletMovements)
    .where(eq(walletMovements.serviceId, movementId));
  return movement?.refundId ?? null;
}

/** All refunds of an order, locked: reports are stored without the lock of the books. */
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

/** Completes a refund that was never reported, or whose amount was not: the credit proves it. */
async function settleUnreportedRefund(
  tx: Executor,
  { orderId, money }: PaidRefund,
  { refundId, debit }: { readonly refundId: string | null; readonly debit: Money | undefined },
  now: Date,
): Promise<void> {
  const [found] = await tx
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
  if (found === undefined) {
    // The service may have cancelled the eSIM by itself.
    await tx
      .update(esims)
      .set({ watchDueAt: now })
      .where(and(eq(esims.orderId, orderId), ne(esims.status, 'cancelled')));
    return;
  }
  const work = { kind: 'cancellation', id: found.id } as const;
  if (!(await mayBeSettled(tx, work, money, { debit, reported: undefined }))) return;
  await expectRefund(tx, work, now);
  const named = refundId === null ? {} : { serviceRefundId: refundId };
  await tx
    .update(refunds)
    .set({ ...named, amount: money.amount, currency: money.currency })
    .where(eq(refunds.cancellationId, work.id));
  await settleRefund(tx, work.id, true, now);
  if (!isFinal(found.status)) await requestWake(tx, work);
}
