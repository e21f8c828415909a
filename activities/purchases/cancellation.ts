import { ApplicationFailure } from '@temporalio/common';
import { cancellationOutcome, type RefundState } from '#domain/refund.ts';
import { forecastRefund, judgeRefundConditions, type RefundFacts } from '#domain/refund-conditions.ts';
import type { AttemptRow, ServiceFacts } from '#db/attempts.ts';
import { findRefund, settleRefund, parkRefund, type CancellationFacts, type RefundRow } from '#db/cancellation-facts.ts';
import { readCancellation, storePreflight } from '#db/cancellations.ts';
import { readOwnRefundFacts } from '#db/esim-queries.ts';
import { recordRefund } from '#db/journal.ts';
import { completeWork } from '#db/work.ts';
import type { EsimCancellation, ServiceRefund, WalletTransaction } from '#upstream/contract.ts';
import { refundFacts } from '#upstream/event-readings.ts';
import { refundWord } from '#upstream/purchase-events.ts';
import { readRefundFacts } from '#upstream/refund-facts.ts';
import { CLOCK_SKEW_MS, isOfOrder } from '#upstream/wallet-movements.ts';
import type { OptionalResult } from '#upstream/client/calls.ts';
import { noteOf, type WorkDependencies } from '#activities/work-context.ts';
import type { Inquiry, PurchaseKind } from '#activities/purchases/kind.ts';
import { learn } from '#activities/purchases/learn.ts';
import { refusal } from '#activities/purchases/price.ts';
import type { CompletionResult } from '#activities/work-types.ts';

/**
 * How an eSIM is cancelled: the conditions of its refund are read, then `POST /esims/{id}/cancel`. It is like a purchase in
 * all but its price: one key, a lease, a lost answer that is looked up; what it is to bring is the refund.
 */
export function cancellationPurchases(dependencies: WorkDependencies): PurchaseKind {
  const { database, service, now } = dependencies;

  const ask = async (attempt: AttemptRow): Promise<Inquiry> => {
    const serviceEsimId = esimOf(attempt);
    const esim = await service.getEsim(serviceEsimId);
    if (!esim.ok) return { kind: 'unavailable', failure: noteOf(esim) };
    const isCancelled = esim.value.status === 'cancelled';
    const refund = await refundOf(attempt);
    if (!refund.ok && refund.kind === 'failure' && !isCancelled) return { kind: 'unavailable', failure: noteOf(refund) };
    const record = refund.ok ? refund.value : undefined;
    if (!isCancelled && record === undefined) return { kind: 'not_found' };
    // A refund that failed while the eSIM is as it was: the whole cancellation was refused.
    const isRefused = !isCancelled && record?.status === 'failed';
    return inquiryOf(serviceEsimId, isCancelled ? 'cancelled' : isRefused ? 'refused' : undefined, record);
  };

  /** The refund that belongs to an attempt: by its id, else the only one of the eSIM since the first send. */
  const refundOf = async (attempt: AttemptRow): Promise<OptionalResult<ServiceRefund | undefined>> => {
    if (attempt.serviceId !== null) {
      const byId = await service.getRefund(attempt.serviceId);
      if (byId.ok || (byId.kind === 'failure' && byId.status !== 404)) return byId;
    }
    const list = await service.findRefundsOfEsim(esimOf(attempt));
    if (!list.ok) return list;
    const since = (attempt.firstSentAt ?? attempt.createdAt).getTime() - CLOCK_SKEW_MS;
    const recent = list.value.items.filter(({ created_at: at }) => at == null || Date.parse(at) >= since);
    // Of several, the one that was not refused is the one that counts; the service lists the newest first.
    return { ...list, value: recent.find(({ status }) => status !== 'failed') ?? recent[0] };
  };

  const complete: PurchaseKind['complete'] = async (known, applied) => {
    const { attempt, inquiry } = await learn(dependencies, ask, known);
    if (attempt.state === 'failed') return { kind: 'changed' };
    const { subjectId: id } = attempt;
    const { cancellation, esim, refund } = await database.run(async (db) => ({
      ...(await readCancellation(db, id)),
      refund: await findRefund(db, id),
    }));
    const finish = (message: string, completed: boolean | undefined, credit?: WalletTransaction): Promise<CompletionResult> =>
      database.transaction(async (tx) => {
        if (credit !== undefined) await recordRefund(tx, esim.orderId, credit);
        if (completed !== undefined) await settleRefund(tx, id, completed, new Date(now()));
        const entry = { message, detail: { esim_id: esim.id, ...(credit !== undefined && { refunded: `${credit.amount} ${credit.currency}` }) } };
        const completion = { attemptId: attempt.id, esimId: esim.id, charged: undefined, entry, applied };
        await completeWork(tx, { kind: 'cancellation', id }, completion, new Date(now()));
        return { kind: 'completed', esimId: esim.id };
      });
    const park = async (reason: 'refund_failed' | 'refund_missing', detail: string): Promise<CompletionResult> => {
      await database.transaction((tx) => parkRefund(tx, id, new Date(now())));
      return { kind: 'parked', reason, detail };
    };

    if (refund?.verdict === 'refunded') return finish('The eSIM is cancelled; a person saw its refund in the wallet.', true);
    if (refund?.serviceState === 'completed') {
      const found = await creditOf(refund, await database.run((db) => readOwnRefundFacts(db, esim)));
      if (typeof found !== 'string') return finish('The eSIM is cancelled, and its refund is in the wallet.', true, found);
      if (cancellation.acceptWithoutRefund) return finish(`The eSIM is cancelled. ${found}`, undefined);
      return park('refund_missing', found);
    }
    if (inquiry.kind === 'unavailable' && refund?.serviceState !== 'failed') {
      throw ApplicationFailure.retryable(inquiry.failure.detail, inquiry.failure.class);
    }
    const isOver = refund?.serviceState === 'failed' || cancellation.cancelledAt !== null;
    if (cancellation.acceptWithoutRefund && isOver) {
      return finish('The eSIM is cancelled, without a refund, as was accepted.', refund === undefined ? undefined : false);
    }
    if (refund?.serviceState === 'failed') return park('refund_failed', 'The eSIM is cancelled, and the service says that its refund failed.');
    const what = cancellation.cancelledAt === null ? 'The service has not decided about the cancellation' : 'The eSIM is cancelled, and its refund is not decided';
    return park('refund_missing', `${what} for a long time.`);
  };

  /**
   * Finds the credit of a refund in the wallet.
   *
   * @returns the credit; or, where nobody will ever find it, why, as a sentence.
   * @throws ApplicationFailure, retryable, while it does not show.
   */
  const creditOf = async (
    { serviceRefundId }: RefundRow,
    own: { readonly serviceOrderId: string | null; readonly reference: string | null; readonly orderedAt: number },
  ): Promise<WalletTransaction | string> => {
    const wallet = await service.listWalletTransactions({ since: own.orderedAt - CLOCK_SKEW_MS });
    if (!wallet.ok) {
      if (wallet.kind === 'unsupported') return 'The service says that the refund is paid, and shows no wallet transactions to prove it.';
      throw ApplicationFailure.retryable(wallet.detail, wallet.failure);
    }
    const order = { serviceId: own.serviceOrderId, reference: own.reference };
    const credits = wallet.value.items.filter(({ type }) => type === 'credit');
    const byRefund = credits.find(({ refund_id: refundId }) => refundId != null && refundId === serviceRefundId);
    const credit = byRefund ?? credits.find((each) => each.refund_id == null && isOfOrder(order, each));
    if (credit === undefined) throw ApplicationFailure.retryable('The wallet does not show the refund (yet).', 'RefundNotInWallet');
    return credit;
  };

  return {
    async prepare(db, id) {
      const { esim } = await readCancellation(db, id);
      // No body is shown for this request, so none is sent.
      return { reference: undefined, serviceEsimId: esim.serviceEsimId, body: Buffer.alloc(0) };
    },

    async examine(id) {
      const { cancellation, esim } = await database.run((db) => readCancellation(db, id));
      const facts = await readRefundFacts(service, await database.run((db) => readOwnRefundFacts(db, esim)), now);
      const conditions = judgeRefundConditions(facts);
      await database.run((db) => storePreflight(db, id, conditions));
      if (cancellation.acceptWithoutRefund) return undefined;
      const forecast = forecastRefund(conditions);
      if (forecast === 'refund_expected') return undefined;
      const open = conditions.filter(({ result }) => result === (forecast === 'unknown' ? 'unknown' : 'fail'));
      const why = open.map(({ name, evidence }) => `${name}: ${evidence}`).join(' ');
      if (forecast === 'no_refund_expected') return refusal('refund_not_expected', why);
      return refusal(mayBeReadLater(facts) ? 'not_sent' : 'refund_uncertain', why);
    },

    async send(attempt) {
      const { idempotencyKey } = attempt;
      const answer = await service.cancelEsim({ idempotencyKey, esimId: esimOf(attempt) });
      return answer.ok ? { ...answer, value: answerFacts(answer.value) } : answer;
    },

    ask,

    // It is paid for by nobody: its refund is a credit of the order's price, which `complete` finds.
    owns: () => false,
    isAnonymous: () => false,

    complete,

    async cancellation(db, id) {
      const { cancellation } = await readCancellation(db, id);
      const refund = await findRefund(db, id);
      return {
        acceptWithoutRefund: cancellation.acceptWithoutRefund,
        refundFailed: refund?.serviceState === 'failed',
        ...(cancellation.cancelledAt !== null && { cancelledAt: cancellation.cancelledAt.getTime() }),
      };
    },
  };
}

/** @throws Error for an attempt without an eSIM, which `prepare` rules out. */
function esimOf({ id, serviceEsimId }: AttemptRow): string {
  if (serviceEsimId === null) throw new Error(`attempt ${id} names no eSIM`);
  return serviceEsimId;
}

/** True when what is not known may be known when it is read again. */
function mayBeReadLater(facts: RefundFacts): boolean {
  const { usage, installation, topups, debit } = facts;
  return [usage, installation, topups, debit].some((reading) => !reading.ok && reading.mayPass);
}

function answerFacts({ status, refund }: EsimCancellation): ServiceFacts {
  return factsOf({ esim: status, ...(refund != null && refundWord(refundFacts(refund))) });
}

function factsOf(cancellation: CancellationFacts): ServiceFacts {
  const outcome = cancellationOutcome(cancellation);
  const failureDetail = outcome === 'failed' ? 'The service refuses to cancel the eSIM.' : undefined;
  return { outcome, serviceId: cancellation.serviceRefundId, failureDetail, cancellation };
}

/** What reads showed, together with the event that would have told it. */
function inquiryOf(esimId: string, esim: CancellationFacts['esim'], refund: ServiceRefund | undefined): Inquiry {
  const facts = factsOf({ esim, ...(refund !== undefined && refundWord(refundFacts(refund))) });
  if (esim === 'cancelled') {
    return { kind: 'found', facts, record: { esim_id: esimId, status: 'cancelled', refund: refund ?? null }, event: 'esim.cancelled' };
  }
  return { kind: 'found', facts, record: refund, event: refund === undefined ? undefined : EVENTS[refund.status] };
}

/** No event tells of a refund that is being decided. */
const EVENTS = {
  processing: undefined,
  completed: 'refund.completed',
  failed: 'refund.failed',
} as const satisfies Record<RefundState, string | undefined>;
