import { eq, and, inArray, isNotNull, isNull, ne, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { debitOfOrder } from '#db/money/wallet-movements.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { cancellations, esims, refunds, walletMovements } from '#db/schema.ts';
import { findRefund, isInForce } from '#db/work/cancellations.ts';
import { openCase } from '#db/work/cases.ts';
import type { RefundRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import {
  refundStatusAfterReport,
  GIVEN_UP_REFUND,
  PAID_REFUND,
  REFUND_NEEDING_ATTENTION,
  refundStatusOf,
  type CancellationReport,
  type RefundStatus,
  judgeCredit,
  otherCreditText,
  refundOfCredit,
} from '#domain/cancellation/refund.ts';
import { equalMoney, moneyOf, plainText, type Money } from '#domain/money/money.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { announceRefund, openContradiction } from '#fulfilment/work/events.ts';

export async function expectRefund(tx: Executor, work: WorkRef, now: Date): Promise<void> {
  if ((await findRefund(tx, work.id)) === undefined) await storeRefund(tx, work, {}, now);
}

export async function nameRefund(tx: Executor, work: WorkRef, serviceRefundId: string, now: Date): Promise<void> {
  await expectRefund(tx, work, now);
  await tx.update(refunds).set({ serviceRefundId }).where(eq(refunds.cancellationId, work.id));
}

/** Without a report the refund counts as expected. A settled refund stays settled. */
export async function storeRefund(
  tx: Executor,
  work: WorkRef,
  { refund, serviceRefundId, refunded }: CancellationReport,
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

/** The newer amount counts: the wallet is searched for it. */
async function reportOtherRefund(
  tx: Executor,
  work: WorkRef,
  known: RefundRow | undefined,
  reported: Money | undefined,
  now: Date,
): Promise<void> {
  const before = known && moneyOf(known.amount, known.currency);
  if (before === undefined || reported === undefined || equalMoney(before, reported)) return;
  const [earlier, later] = [plainText(before), plainText(reported)];
  const detail = `The service reported a refund of ${earlier} before, and now reports ${later}.`;
  await openContradiction(tx, work, detail, now);
}

/** `completed`: the money is in the wallet. */
export async function settleRefund(tx: Executor, cancellationId: string, completed: boolean, now: Date): Promise<void> {
  await changeRefund(tx, cancellationId, completed ? PAID_REFUND : GIVEN_UP_REFUND, now);
}

/** A settled refund is not changed. */
export async function markRefundNeedsAttention(tx: Executor, cancellationId: string, now: Date): Promise<void> {
  await changeRefund(tx, cancellationId, REFUND_NEEDING_ATTENTION, now);
}

async function changeRefund(
  tx: Executor,
  cancellationId: string,
  { status, from }: { readonly status: RefundStatus; readonly from: readonly RefundStatus[] },
  now: Date,
): Promise<void> {
  await tx
    .update(refunds)
    .set({ status, updatedAt: now, ...(status === 'completed' && { completedAt: now }) })
    .where(and(eq(refunds.cancellationId, cancellationId), inArray(refunds.status, from)));
  await announceRefund(tx, cancellationId, now);
}

interface PaidRefund {
  readonly orderId: string;
  readonly movementId: string;
  readonly money: Money;
}

/**
 * A cancellation that waits for a report is woken. A credit that is not what was debited opens a case, and settles
 * only a refund that the service reported like this.
 */
export async function settlePaidRefunds(tx: Executor, credits: readonly PaidRefund[], now: Date): Promise<void> {
  for (const credit of credits) {
    const { orderId, movementId, money } = credit;
    const [movement] = await tx
      .select({ refundId: walletMovements.refundId })
      .from(walletMovements)
      .where(eq(walletMovements.serviceId, movementId));
    const refundId = movement?.refundId ?? null;
    const known = await refundsOfOrder(tx, orderId);
    const debit = await debitOfOrder(tx, orderId);
    const refund =
      refundOfCredit(known, { refundId, money }) ??
      known.find(({ serviceRefundId }) => serviceRefundId !== null && serviceRefundId === refundId) ??
      known.find(({ isInForce: inForce, reportedAmount }) => inForce && reportedAmount !== undefined);
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

/** A credit that is not what was debited opens a case. */
async function mayBeSettled(
  tx: Executor,
  work: WorkRef,
  money: Money,
  expected: { readonly debit: Money | undefined; readonly reported: Money | undefined },
): Promise<boolean> {
  const verdict = judgeCredit(money, expected);
  if (verdict !== 'settles')
    await openCase(tx, work, 'amount_differs', otherCreditText(money, expected), null, { once: true });
  return verdict !== 'other_amount';
}

/** Locked: reports are stored without the lock of the books. */
async function refundsOfOrder(tx: Executor, orderId: string) {
  const rows = await tx
    .select({ refund: refunds, isInForce: sql<boolean>`${isInForce}` })
    .from(refunds)
    .innerJoin(cancellations, eq(cancellations.id, refunds.cancellationId))
    .where(eq(refunds.orderId, orderId))
    .orderBy(refunds.createdAt)
    .for('update', { of: refunds });
  return rows.map(({ refund: { cancellationId, status, serviceRefundId, amount, currency }, isInForce: inForce }) => ({
    cancellationId,
    status,
    serviceRefundId,
    reportedAmount: moneyOf(amount, currency),
    isInForce: inForce,
  }));
}

/** The credit proves a refund that was never reported, or whose amount was not. */
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
