import type { FailureNote } from '#domain/attention.ts';
import { isDefinite } from '#domain/failure.ts';
import { compareMoney } from '#domain/money.ts';
import { isFinal } from '#domain/order-lifecycle.ts';
import type { SendOutcome } from '#domain/purchase-decision.ts';
import { claimSend, findAttemptById, recordFacts, recordSendFailure, requestBodyPlace, type AttemptRow } from '#db/attempts.ts';
import { buyingBarrier } from '#db/buying-barrier.ts';
import type { Executor } from '#db/database.ts';
import { lockOrder, lockUnfinishedOrder, markInProgress, readOrder, type OrderRow } from '#db/orders.ts';
import { addTimelineEntry } from '#db/timeline.ts';
import { chargeOf } from '#upstream/event-parsing.ts';
import type { ServiceOrder } from '#upstream/contract.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/error-mapping.ts';
import { attemptView, type OrderDependencies } from '#activities/order-context.ts';
import { createDebitEvidence } from '#activities/debit-evidence.ts';
import type { LookUpResult, OrderActivities, SendResult } from '#activities/order-types.ts';

type Purchase = Pick<OrderActivities, 'sendPurchase' | 'lookUpPurchase' | 'readDebitEvidence'>;

/** The activities that buy, and those that find out what became of it. */
export function createPurchase(dependencies: OrderDependencies): Purchase {
  const { database, keyRing, service, sendLeaseMs, now } = dependencies;

  return {
    async sendPurchase({ orderId, attemptId }): Promise<SendResult> {
      const order = await database.run((db) => readOrder(db, orderId));
      const tooDear = await priceAboveLimit(service, order);

      const claim = await database.transaction(async (tx) => {
        await lockUnfinishedOrder(tx, orderId);
        const by = await buyingBarrier(tx, orderId);
        if (by !== undefined) return { kind: 'barred', by } as const;
        const claimed = await claimSend(tx, attemptId, sendLeaseMs, new Date(now()));
        if (claimed.kind === 'claimed') await markInProgress(tx, orderId, 'submitting', new Date(now()));
        return claimed;
      });
      if (claim.kind === 'barred') {
        return { outcome: claim, attempt: attemptView(await database.run((db) => findAttemptById(db, attemptId))) };
      }
      if (claim.kind === 'leased') {
        const attempt = attemptView(await database.run((db) => findAttemptById(db, attemptId)));
        return { outcome: { kind: 'lease_held', retryAfterMs: Math.max(1, claim.until.getTime() - now()) }, attempt };
      }
      if (claim.kind === 'settled') {
        return { outcome: { kind: 'accepted', outcome: claim.outcome }, attempt: attemptView(claim.attempt) };
      }

      const { attempt, leaseToken } = claim;
      const answer: ServiceResult<ServiceOrder> =
        tooDear ??
        (await service.createOrder({
          idempotencyKey: attempt.idempotencyKey,
          reference: attempt.reference,
          body: keyRing.open(attempt.sealedRequestBody, requestBodyPlace(attempt.id)),
        }));
      return database.transaction(async (tx) => {
        // It may have ended while we waited: its workflow was terminated, and another run went on.
        const current = await lockOrder(tx, orderId);
        const after = answer.ok
          ? await recordAnswer(tx, current, attempt.id, answer.value, new Date(now()))
          : await recordSendFailure(tx, attempt.id, leaseToken, noteOf(answer));
        await addTimelineEntry(tx, { kind: 'order', id: orderId }, sentEntry(attempt, answer));
        return { outcome: outcomeOf(after, answer), attempt: attemptView(after), ...(!answer.ok && { detail: answer.detail }) };
      });
    },

    async lookUpPurchase({ orderId, attemptId }): Promise<LookUpResult> {
      const attempt = await database.run((db) => findAttemptById(db, attemptId));
      const found = await askForOrder(service, attempt);
      if (found.kind !== 'order') return found;
      await database.transaction(async (tx) => {
        const order = await lockUnfinishedOrder(tx, orderId);
        await recordAnswer(tx, order, attemptId, found.order, new Date(now()));
        await addTimelineEntry(tx, { kind: 'order', id: orderId }, {
          event: 'attempt.found',
          message: `The service was asked and has attempt ${attempt.number} as ${found.order.status}.`,
          detail: { attempt: attempt.number, service_order_id: found.order.id },
          dedupKey: `attempt.found:${attempt.number}:${found.order.status}`,
        });
      });
      return { kind: 'found', outcome: found.order.status };
    },

    readDebitEvidence: createDebitEvidence(dependencies),
  };
}

/** Asks for an attempt's order: by the service's id where it is known, else by the reference we gave. */
export async function askForOrder(
  service: OrderDependencies['service'],
  attempt: Pick<AttemptRow, 'serviceOrderId' | 'reference'>,
): Promise<{ kind: 'order'; order: ServiceOrder } | Exclude<LookUpResult, { kind: 'found' }>> {
  if (attempt.serviceOrderId !== null) {
    const read = await service.getOrder(attempt.serviceOrderId);
    if (read.ok) return { kind: 'order', order: read.value };
    if (read.kind === 'failure') return { kind: 'unavailable', failure: noteOf(read) };
  }
  const list = await service.findOrdersByReference(attempt.reference);
  if (list.ok) {
    const [order, another] = list.value.items;
    if (order !== undefined && another === undefined) return { kind: 'order', order };
    if (order === undefined && list.value.complete) return { kind: 'not_found' };
    const detail =
      another === undefined
        ? 'The service lists more orders than can be searched.'
        : `The service lists ${list.value.items.length} orders under one reference: it may have bought more than once.`;
    return { kind: 'unavailable', failure: { class: 'contract_drift', detail } };
  }
  const failure =
    list.kind === 'failure'
      ? noteOf(list)
      : { class: 'contract_drift' as const, detail: 'This service offers no way to ask for an order.' };
  return { kind: 'unavailable', failure };
}

/** The caller's price limit, checked just before sending. @returns the refusal, or undefined when the price is fine. */
async function priceAboveLimit(service: OrderDependencies['service'], order: OrderRow): Promise<ServiceFailure | undefined> {
  const { maxPriceAmount, maxPriceCurrency, packageId } = order;
  if (maxPriceAmount === null || maxPriceCurrency === null) return undefined;
  const packages = await service.listPackages();
  if (!packages.ok) {
    return packages.kind === 'failure' && isDefinite(packages.failure)
      ? packages
      : refusal('not_sent', 'The price could not be read, so nothing was sent.');
  }
  const offered = packages.value.items.find(({ id }) => id === packageId);
  if (offered === undefined) return refusal('package_unavailable', 'The service does not list this package.');
  if (offered.currency !== maxPriceCurrency) {
    return refusal('price_above_limit', `The price is in ${offered.currency}, the limit in ${maxPriceCurrency}.`);
  }
  const price = { amount: offered.price_for_reseller, currency: offered.currency };
  if (compareMoney(price, { amount: maxPriceAmount, currency: maxPriceCurrency }) <= 0) return undefined;
  return refusal('price_above_limit', `The price is ${price.amount} ${price.currency}, above the limit of the order.`);
}

function refusal(failure: ServiceFailure['failure'], detail: string): ServiceFailure {
  return { ok: false, kind: 'failure', failure, detail };
}

/** @param order as it is now, locked. */
async function recordAnswer(tx: Executor, order: OrderRow, attemptId: string, answer: ServiceOrder, now: Date): Promise<AttemptRow> {
  const after = await recordFacts(
    tx,
    attemptId,
    {
      outcome: answer.status,
      serviceOrderId: answer.id,
      serviceEsimId: answer.esim_id ?? undefined,
      charged: chargeOf(answer),
      failureDetail: answer.failure == null ? undefined : `The service reports: ${answer.failure.code}.`,
    },
    now,
  );
  if (!isFinal(order.status)) await markInProgress(tx, order.id, 'processing', now);
  return after;
}

function sentEntry(attempt: AttemptRow, answer: ServiceResult<ServiceOrder>) {
  const detail = { attempt: attempt.number, send: attempt.sends };
  return answer.ok
    ? {
        event: 'attempt.accepted',
        message: `The service answered attempt ${attempt.number}: ${answer.value.status}.`,
        detail: { ...detail, service_order_id: answer.value.id },
        dedupKey: `send:${attempt.number}:${attempt.sends}`,
      }
    : {
        event: isDefinite(answer.failure) && !attempt.anyUnknown ? 'attempt.refused' : 'attempt.unknown',
        message: answer.detail,
        detail: { ...detail, failure_class: answer.failure },
        dedupKey: `send:${attempt.number}:${attempt.sends}`,
      };
}

/** What the send came to, by what the attempt is now: an event may have settled it while we waited for the answer. */
function outcomeOf(attempt: AttemptRow, answer: ServiceResult<ServiceOrder>): SendOutcome {
  const { state } = attempt;
  if (state === 'processing' || state === 'completed' || state === 'failed') return { kind: 'accepted', outcome: state };
  if (answer.ok) throw new Error(`attempt ${attempt.id} was accepted, but is ${state}`);
  const { failure, retryAfterMs } = answer;
  return { kind: 'failure', failure, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function noteOf(failure: ServiceFailure): FailureNote {
  return { class: failure.failure, detail: failure.detail };
}
