import { resultsByEsim } from '#activities/evidence/look-up-result.ts';
import { lookUpAndStore } from '#activities/evidence/look-up.ts';
import { NotYetError } from '#activities/purchases/not-yet.ts';
import { refusal } from '#activities/purchases/price.ts';
import { sinceFirstSend } from '#activities/purchases/purchase-report.ts';
import type { Found, LookUpResult, WorkHandler } from '#activities/purchases/work-handler.ts';
import { noteOf, type WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { CompletionResult } from '#activities/work/work-types.ts';
import { serviceIdsOfOthers } from '#db/attempts/attempts.ts';
import { takenServiceIds } from '#db/attempts/silent-attempts.ts';
import type { Executor } from '#db/connection/database.ts';
import { lockEsim, readRefundContext } from '#db/esims/esim-queries.ts';
import { storeEsimState } from '#db/esims/esim-readings.ts';
import { recordRefund } from '#db/money/journal.ts';
import { storePreflight, cancelledAmong, readCancellation, findRefund } from '#db/work/cancellation-queries.ts';
import { openCase } from '#db/work/cases.ts';
import type { AttemptRow, RefundRow } from '#db/work/rows.ts';
import { forecastRefund, judgeRefundConditions, type RefundEvidence } from '#domain/cancellation/refund-conditions.ts';
import { cancellationOutcome, type RefundState } from '#domain/cancellation/refund.ts';
import { equalMoney, plainText, type Money } from '#domain/money/money.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { AttemptReport } from '#fulfilment/attempts/record-report.ts';
import { completeWork } from '#fulfilment/work/complete-work.ts';
import { settleRefund } from '#fulfilment/work/settle-refund.ts';
import type { CancellationDetails } from '#fulfilment/work/store-refund.ts';
import type { OptionalResult } from '#upstream/client/calls.ts';
import type { EsimCancellation, ServiceRefund } from '#upstream/contract.ts';
import { esimDetails } from '#upstream/mapping/esim-details.ts';
import { refundRecord } from '#upstream/mapping/event-data.ts';
import { refundReport } from '#upstream/mapping/purchase-events.ts';
import { readRefundEvidence } from '#upstream/mapping/refund-evidence.ts';
import { isOfOrder } from '#upstream/mapping/wallet-movements.ts';

/**
 * Cancellations: reads the conditions of the refund, then sends `POST /esims/{id}/cancel`. They work like a purchase
 * without a price: one key, a lease, a look-up after a lost answer. Their result is the refund.
 */
export function cancellationHandler(dependencies: WorkDependencies): WorkHandler {
  const { database, service, now } = dependencies;

  const lookUp = async (attempt: AttemptRow): Promise<LookUpResult> => {
    const serviceEsimId = esimOf(attempt);
    // Read the refund first. After a failed refund, an eSIM that is then still not cancelled was not cancelled by it.
    const refund = await refundOf(attempt);
    const esim = await service.getEsim(serviceEsimId);
    if (!esim.ok) return { kind: 'unavailable', failure: noteOf(esim) };
    const isCancelled = esim.value.status === 'cancelled';
    if (!refund.ok && refund.kind === 'failure' && !isCancelled)
      return { kind: 'unavailable', failure: noteOf(refund) };
    const record = refund.ok ? refund.value : undefined;
    if (!isCancelled && record === undefined) return { kind: 'not_found' };
    const open = record?.status === 'failed' ? 'refused' : 'processing';
    return foundAs(serviceEsimId, isCancelled ? 'cancelled' : open, record);
  };

  /**
   * The refund of an attempt: by its id, else the newest refund of the eSIM since the first send that belongs to no
   * other attempt.
   */
  const refundOf = async (attempt: AttemptRow): Promise<OptionalResult<ServiceRefund | undefined>> => {
    if (attempt.serviceId !== null) {
      const byId = await service.getRefund(attempt.serviceId);
      if (byId.ok || (byId.kind === 'failure' && byId.status !== 404)) return byId;
    }
    const list = await service.findRefundsOfEsim(esimOf(attempt));
    if (!list.ok) return list;
    const others = await database.run((db) =>
      serviceIdsOfOthers(
        db,
        attempt,
        list.value.items.map(({ id }) => id),
      ),
    );
    const own = list.value.items.filter((refund) => !others.has(refund.id) && mayBe(attempt, refund));
    // Of several, one that did not fail counts; the service lists the newest first.
    return { ...list, value: own.find(({ status }) => status !== 'failed') ?? own[0] };
  };

  const lookUpMany: WorkHandler['lookUpMany'] = async (attempts, { maxPages }) => {
    const list = await service.listRecentRefunds({ since: Math.min(...attempts.map(sinceFirstSend)), maxPages });
    const listed = list.ok ? list.value.items.map(({ id }) => id) : [];
    const { taken, cancelled } = await database.run(async (db) => ({
      taken: await takenServiceIds(db, 'cancellation', listed),
      cancelled: await cancelledAmong(
        db,
        attempts.map(({ subjectId }) => subjectId),
      ),
    }));
    return resultsByEsim(list, attempts, {
      noun: 'refunds',
      mayBe: (attempt, refund) => !taken.has(refund.id) && mayBe(attempt, refund),
      found: (refund, attempt) => {
        // A cancelled eSIM stays cancelled.
        if (cancelled.has(attempt.subjectId)) return foundAs(esimOf(attempt), 'cancelled', refund);
        // Only a paid refund shows that the eSIM is cancelled; otherwise the eSIM must be read.
        return refund.status === 'completed' ? foundAs(esimOf(attempt), undefined, refund) : undefined;
      },
    });
  };

  const complete: WorkHandler['complete'] = async (known, applied) => {
    const { attempt, lookedUp } = await lookUpAndStore(dependencies, lookUp, known);
    if (attempt.state === 'failed') return { kind: 'changed' };
    const { subjectId: id } = attempt;
    const { cancellation, esim, refund } = await database.run(async (db) => ({
      ...(await readCancellation(db, id)),
      refund: await findRefund(db, id),
    }));
    /** @param completed whether the refund was paid; undefined: its status stays as the service reported it. */
    const finish = (message: string, completed: boolean | undefined, credit?: Money): Promise<CompletionResult> =>
      database.transaction(async (tx) => {
        const entry = {
          message,
          detail: {
            esim_id: esim.id,
            ...(credit !== undefined && { refunded: `${credit.amount} ${credit.currency}` }),
          },
        };
        const completion = { attemptId: attempt.id, esimId: esim.id, charged: undefined, entry, applied };
        // Locks the work before any write.
        await completeWork(tx, { kind: 'cancellation', id }, completion, new Date(now()));
        if (credit !== undefined) await recordRefund(tx, esim.orderId, credit);
        if (completed !== undefined) await settleRefund(tx, id, completed, new Date(now()));
        if (credit !== undefined && completed === true) await reportOtherAmount(tx, id, refund, credit);
        return { kind: 'completed', esimId: esim.id };
      });

    // The books may have found the credit before any report of the service.
    const isPaid =
      refund?.status === 'completed' || refund?.serviceState === 'completed' || refund?.verdict === 'refunded';
    if (refund !== undefined && isPaid) {
      const found = await creditOf(attempt, refund, await database.run((db) => readRefundContext(db, esim)));
      if (found.kind === 'found')
        return finish('The eSIM is cancelled, and its refund is in the wallet.', true, found.credit);
      if (refund.verdict === 'refunded')
        return finish('The eSIM is cancelled; a person saw its refund in the wallet.', true, toldAmount(refund));
      if (refund.verdict === 'dismissed')
        return finish(`The eSIM is cancelled. ${found.detail} A person has let it go.`, false);
      if (found.kind === 'not_yet') throw new NotYetError(found.failure ?? 'refund_not_in_wallet', found.detail);
      // The credit will never be visible; a caller who accepted that no refund comes need not decide.
      return cancellation.acceptWithoutRefund
        ? finish(`The eSIM is cancelled. ${found.detail}`, undefined)
        : { kind: 'parked', reason: 'refund_missing', detail: found.detail };
    }
    const isFailed = refund?.serviceState === 'failed';
    if (lookedUp.kind === 'unavailable' && !isFailed) {
      throw new NotYetError(lookedUp.failure.class, lookedUp.failure.detail);
    }
    if (cancellation.cancelledAt === null) {
      return {
        kind: 'parked',
        reason: 'refund_missing',
        detail: 'The service has not decided about the cancellation for a long time.',
      };
    }
    if (refund?.verdict === 'dismissed') return finish('The eSIM is cancelled; a person has let its refund go.', false);
    if (cancellation.acceptWithoutRefund) {
      return finish('The eSIM is cancelled, without a refund, as was accepted.', isFailed ? false : undefined);
    }
    return isFailed
      ? {
          kind: 'parked',
          reason: 'refund_failed',
          detail: 'The eSIM is cancelled, and the service says that its refund failed.',
        }
      : {
          kind: 'parked',
          reason: 'refund_missing',
          detail: 'The eSIM is cancelled, and its refund is not decided for a long time.',
        };
  };

  /** Searches the wallet for the credit of a refund. */
  const creditOf = async (
    attempt: AttemptRow,
    { serviceRefundId, amount, currency }: RefundRow,
    own: { readonly serviceOrderId: string | null; readonly reference: string | null },
  ): Promise<CreditSearch> => {
    // A credit cannot be older than its cancellation.
    const since = sinceFirstSend(attempt);
    const wallet = await service.listWalletTransactions({ since });
    if (!wallet.ok) {
      if (wallet.kind === 'failure') return { kind: 'not_yet', failure: wallet.failure, detail: wallet.detail };
      return {
        kind: 'never',
        detail: 'The service says that the refund is paid, and shows no wallet transactions to prove it.',
      };
    }
    const order = { serviceId: own.serviceOrderId, reference: own.reference };
    const credits = wallet.value.items.filter(
      ({ type, created_at: at }) => type === 'credit' && Date.parse(at) >= since,
    );
    const isTold = (credit: Money) => amount === null || currency === null || equalMoney(credit, { amount, currency });
    const credit =
      credits.find(({ refund_id: refundId }) => refundId != null && refundId === serviceRefundId) ??
      credits.find((each) => each.refund_id == null && isOfOrder(order, each) && isTold(each));
    if (credit === undefined) return { kind: 'not_yet', detail: 'The wallet does not show the refund (yet).' };
    return { kind: 'found', credit: { amount: credit.amount, currency: credit.currency } };
  };

  return {
    async prepare(db, id) {
      const { esim } = await readCancellation(db, id);
      // The specification shows no body for this request.
      return { reference: undefined, serviceEsimId: esim.serviceEsimId, body: Buffer.alloc(0) };
    },

    async examine(id) {
      const { cancellation, esim } = await database.run((db) => readCancellation(db, id));
      const own = await database.run((db) => readRefundContext(db, esim));
      const { facts, esim: read, readAt } = await readRefundEvidence(service, own, now);
      const conditions = judgeRefundConditions(facts);
      await database.transaction(async (tx) => {
        await storePreflight(tx, id, conditions);
        if (read !== undefined) await storeEsimState(tx, esim.id, esimDetails(read), readAt);
      });
      if (cancellation.acceptWithoutRefund) return {};
      const forecast = forecastRefund(conditions);
      if (forecast === 'refund_expected') {
        const recheck = async (tx: Executor) => {
          const { completedTopups } = await readRefundContext(tx, await lockEsim(tx, esim.id));
          return completedTopups === own.completedTopups
            ? undefined
            : refusal(
                'not_sent',
                'The eSIM was recharged at this moment: the conditions of its refund are judged anew.',
              );
        };
        return { recheck };
      }
      const open = conditions.filter(({ result }) => result === (forecast === 'unknown' ? 'unknown' : 'fail'));
      const reason = open.map(({ name, evidence }) => `${name}: ${evidence}`).join(' ');
      if (forecast === 'no_refund_expected') return { objection: refusal('refund_not_expected', reason) };
      return { objection: refusal(mayBeReadLater(facts) ? 'not_sent' : 'refund_uncertain', reason) };
    },

    async send(attempt, _body, leaseLeftMs) {
      const { idempotencyKey } = attempt;
      const answer = await service.cancelEsim({ idempotencyKey, esimId: esimOf(attempt), leaseLeftMs });
      return answer.ok ? { ...answer, value: answerFacts(answer.value) } : answer;
    },

    lookUp,
    lookUpMany,

    // A cancellation has no debit; its refund is a credit of the order's price, which `complete` finds.
    owns: () => false,
    isAnonymous: () => false,

    complete,

    async cancellation(db, id) {
      const { cancellation } = await readCancellation(db, id);
      const refund = await findRefund(db, id);
      return {
        acceptWithoutRefund: cancellation.acceptWithoutRefund,
        refundFailed: refund?.serviceState === 'failed',
        refundOpen: refund?.serviceState === 'processing',
        refundPaid: refund?.status === 'completed',
        ...(cancellation.cancelledAt !== null && { cancelledAt: cancellation.cancelledAt.getTime() }),
      };
    },
  };
}

/** The result of the search for the credit of a refund. */
type CreditSearch =
  | { readonly kind: 'found'; readonly credit: Money }
  /** It may appear later. `failure`: why the wallet could not be read. */
  | { readonly kind: 'not_yet'; readonly failure?: FailureClass; readonly detail: string }
  | { readonly kind: 'never'; readonly detail: string };

function toldAmount({ amount, currency }: RefundRow): Money | undefined {
  return amount === null || currency === null ? undefined : { amount, currency };
}

/** Opens a case when the credit differs from the amount that the service reported. */
async function reportOtherAmount(
  tx: Executor,
  id: string,
  refund: RefundRow | undefined,
  credit: Money,
): Promise<void> {
  const told = refund === undefined ? undefined : toldAmount(refund);
  if (told === undefined || equalMoney(told, credit)) return;
  const detail = `The service said ${plainText(told)} of the refund, and credited ${plainText(credit)}.`;
  await openCase(tx, { kind: 'cancellation', id }, 'contradiction', detail);
}

/** @throws Error for an attempt without an eSIM, which `prepare` never makes. */
function esimOf({ id, serviceEsimId }: AttemptRow): string {
  if (serviceEsimId === null) throw new Error(`attempt ${id} names no eSIM`);
  return serviceEsimId;
}

/** False for a refund that was made before the attempt was first sent. */
function mayBe(attempt: AttemptRow, { created_at: at }: ServiceRefund): boolean {
  return at == null || Date.parse(at) >= sinceFirstSend(attempt);
}

/** True when an unknown condition may be known after a later read. */
function mayBeReadLater(facts: RefundEvidence): boolean {
  const { usage, installation, topups, debit } = facts;
  return [usage, installation, topups, debit].some((reading) => !reading.ok && reading.mayPass);
}

function answerFacts({ status, refund }: EsimCancellation): AttemptReport {
  return factsOf({ esim: status, ...(refund != null && refundReport(refundRecord(refund))) });
}

function factsOf(cancellation: CancellationDetails): AttemptReport {
  const outcome = cancellationOutcome(cancellation);
  const failureDetail = outcome === 'failed' ? 'The service refuses to cancel the eSIM.' : undefined;
  return { outcome, serviceId: cancellation.serviceRefundId, failureDetail, cancellation };
}

/** The result of a look-up, with the event that would have reported it. */
function foundAs(esimId: string, esim: CancellationDetails['esim'], refund: ServiceRefund | undefined): Found {
  const facts = factsOf({ esim, ...(refund !== undefined && refundReport(refundRecord(refund))) });
  if (esim === 'cancelled') {
    return {
      kind: 'found',
      facts,
      record: { esim_id: esimId, status: 'cancelled', refund: refund ?? null },
      event: 'esim.cancelled',
    };
  }
  // No event reports that the eSIM is unchanged, except one with a review that refuses.
  const isTold = esim !== 'refused' || refund?.review === 'refused';
  return {
    kind: 'found',
    facts,
    record: refund,
    event: refund === undefined || !isTold ? undefined : EVENTS[refund.status],
  };
}

/** No event reports a refund that is being processed. */
const EVENTS = {
  processing: undefined,
  completed: 'refund.completed',
  failed: 'refund.failed',
} as const satisfies Record<RefundState, string | undefined>;
