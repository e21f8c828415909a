import type { Executor } from '#db/connection/database.ts';
import { readRefundContext } from '#db/esims/esim-queries.ts';
import { recordRefund } from '#db/money/journal.ts';
import { debitOfOrder, movementOfCause } from '#db/money/wallet-movements.ts';
import { readCancellation, findRefund } from '#db/work/cancellations.ts';
import { openCase } from '#db/work/cases.ts';
import { lockUnfinishedWork, type AttemptRow, type RefundRow } from '#db/work/rows.ts';
import { judgeCredit, otherCreditText } from '#domain/cancellation/refund.ts';
import { equalMoney, moneyOf, plainText, type Money } from '#domain/money/money.ts';
import type { CompletionResult } from '#domain/purchase/results.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { lookUp } from '#fulfilment/purchase/cancellation.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { notYet, sinceFirstSend, storeLookUp } from '#fulfilment/purchase/listing.ts';
import { completeWork } from '#fulfilment/work/record-step.ts';
import { settleRefund } from '#fulfilment/work/refunds.ts';
import { isFinalMovement, isOfOrder, isPending, moneyOf as moneyOfRow } from '#upstream/mapping/wallet-movements.ts';

/** Complete when the refund is in the wallet, or the caller or an operator does without it. */
export async function completeCancellation(
  dependencies: WorkDependencies,
  known: AttemptRow,
  applied: readonly string[],
): Promise<CompletionResult> {
  const { database, now } = dependencies;
  const { attempt, lookedUp } = await storeLookUp(dependencies, known, await lookUp(dependencies, known));
  if (attempt.state === 'failed') return { kind: 'changed' };
  const work = { kind: 'cancellation', id: attempt.subjectId } as const;
  const { cancellation, esim, refund, debit, own } = await database.run(async (db) => {
    const read = await readCancellation(db, work.id);
    return {
      ...read,
      refund: await findRefund(db, work.id),
      debit: await debitOfOrder(db, read.esim.orderId),
      own: await readRefundContext(db, read.esim),
    };
  });
  /** `completed` undefined: the status of the refund stays as the service reported it. */
  const finish = (message: string, completed: boolean | undefined, credit?: Money): Promise<CompletionResult> =>
    database.transaction(async (tx) => {
      const refunded = credit !== undefined && { refunded: `${credit.amount} ${credit.currency}` };
      const entry = { message, detail: { esim_id: esim.id, ...refunded } };
      const completion = { attemptId: attempt.id, esimId: esim.id, charged: undefined, entry, applied };
      // Locks the work before any write.
      await completeWork(tx, work, await lockUnfinishedWork(tx, work), completion, new Date(now()));
      if (credit !== undefined) await recordRefund(tx, esim.orderId, credit);
      if (completed !== undefined) await settleRefund(tx, work.id, completed, new Date(now()));
      if (credit !== undefined && completed === true) await openCaseOfOtherAmount(tx, work, refund, debit, credit);
      return { kind: 'completed', esimId: esim.id };
    });
  const acceptsNone = cancellation.onUnmetConditions === 'cancel_without_refund';

  // The books may have found the credit before any report of the service.
  const isPaid =
    refund?.status === 'completed' || refund?.serviceState === 'completed' || refund?.verdict === 'refunded';
  if (refund !== undefined && isPaid) {
    const found = await creditOf(dependencies, attempt, refund, own, debit);
    if (found.kind === 'found')
      return finish(
        `The eSIM is cancelled, and its refund is in the wallet: the credit ${found.row}.`,
        true,
        found.credit,
      );
    if (refund.verdict === 'refunded') {
      const credit = found.kind === 'other_amount' ? found.credit : reportedAmount(refund);
      return finish('The eSIM is cancelled. An operator confirmed its refund.', true, credit);
    }
    if (refund.verdict === 'dismissed')
      return finish(`The eSIM is cancelled. ${found.detail} An operator dismissed the refund.`, false);
    if (found.kind === 'not_yet') return notYet(found.failure ?? 'refund_not_in_wallet', found.detail);
    // The credit will never be visible; a caller who accepted that no refund comes need not decide.
    return acceptsNone ? finish(`The eSIM is cancelled. ${found.detail}`, undefined) : refundMissing(found.detail);
  }
  const isFailed = refund?.serviceState === 'failed';
  if (lookedUp.kind === 'unavailable' && !isFailed) return notYet(lookedUp.failure.class, lookedUp.failure.detail);
  if (cancellation.cancelledAt === null)
    return refundMissing('The service has not decided about the cancellation for a long time.');
  if (refund?.verdict === 'dismissed') return finish('The eSIM is cancelled. An operator dismissed the refund.', false);
  if (acceptsNone)
    return finish('The eSIM is cancelled without a refund; the caller accepted this.', isFailed ? false : undefined);
  if (!isFailed)
    return refundMissing('The eSIM is cancelled, but the service has not decided about its refund for a long time.');
  const detail = 'The eSIM is cancelled, and the service reports that its refund failed.';
  return { kind: 'needs_attention', reason: 'refund_failed', detail };
}

function refundMissing(detail: string): CompletionResult {
  return { kind: 'needs_attention', reason: 'refund_missing', detail };
}

type CreditSearch =
  /** `row`: its id and time at the service. */
  | { readonly kind: 'found'; readonly credit: Money; readonly row: string }
  /** It does not settle the refund. */
  | { readonly kind: 'other_amount'; readonly credit: Money; readonly detail: string }
  /** `failure`: why the wallet could not be read. */
  | { readonly kind: 'not_yet'; readonly failure?: FailureClass; readonly detail: string }
  | { readonly kind: 'never'; readonly detail: string };

/** The credit by which the books have settled it, else one that the wallet shows. A pending credit settles nothing. */
async function creditOf(
  { database, service }: WorkDependencies,
  attempt: AttemptRow,
  refund: RefundRow,
  own: { readonly serviceOrderId: string | null; readonly reference: string | null },
  debit: Money | undefined,
): Promise<CreditSearch> {
  if (refund.status === 'completed') {
    const booked = await database.run((db) => movementOfCause(db, { kind: 'refund', id: refund.orderId }, 'credit'));
    if (booked !== undefined)
      return {
        kind: 'found',
        credit: booked.money,
        row: rowText(booked.id, new Date(booked.occurredAt).toISOString()),
      };
  }
  // A credit cannot be older than its cancellation.
  const since = sinceFirstSend(attempt);
  const wallet = await service.listWalletTransactions({ since });
  if (!wallet.ok) {
    if (wallet.kind === 'failure') return { kind: 'not_yet', failure: wallet.failure, detail: wallet.detail };
    const detail = 'The service reports that the refund is paid, but shows no wallet transactions as proof.';
    return { kind: 'never', detail };
  }
  const order = { serviceId: own.serviceOrderId, reference: own.reference };
  const credits = wallet.value.items.filter(({ type, created_at: at }) => type === 'credit' && Date.parse(at) >= since);
  const named = credits.filter(({ refund_id: id }) => id != null && id === refund.serviceRefundId);
  const ofOrder = credits.filter((each) => each.refund_id == null && isOfOrder(order, each));
  const expected = { debit, reported: reportedAmount(refund) };
  const judged = [...named, ...ofOrder].filter(isFinalMovement).map((row) => {
    const credit = moneyOfRow(row);
    return { credit, row: rowText(row.id, row.created_at), verdict: judgeCredit(credit, expected) };
  });
  const settling =
    judged.find(({ verdict }) => verdict === 'settles') ??
    judged.find(({ verdict }) => verdict === 'settles_otherwise');
  if (settling !== undefined) return { kind: 'found', credit: settling.credit, row: settling.row };
  const [other] = judged;
  if (other !== undefined)
    return { kind: 'other_amount', credit: other.credit, detail: otherCreditText(other.credit, expected) };
  const detail = [...named, ...ofOrder].some(isPending)
    ? 'The credit of the refund is pending in the wallet.'
    : 'The wallet does not show the refund (yet).';
  return { kind: 'not_yet', detail };
}

function rowText(id: string, at: string): string {
  return `${id} of ${at}`;
}

function reportedAmount({ amount, currency }: RefundRow): Money | undefined {
  return moneyOf(amount, currency);
}

async function openCaseOfOtherAmount(
  tx: Executor,
  work: WorkRef,
  refund: RefundRow | undefined,
  debit: Money | undefined,
  credit: Money,
): Promise<void> {
  const reported = refund === undefined ? undefined : reportedAmount(refund);
  if (debit !== undefined && !equalMoney(debit, credit))
    await openCase(tx, work, 'amount_differs', otherCreditText(credit, { debit, reported }), null, { once: true });
  if (reported === undefined || equalMoney(reported, credit)) return;
  const detail = `The service reported a refund of ${plainText(reported)} and credited ${plainText(credit)}.`;
  await openCase(tx, work, 'contradiction', detail);
}
