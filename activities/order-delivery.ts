import { ApplicationFailure } from '@temporalio/common';
import { parseLpaString } from '#domain/activation.ts';
import { compareMoney, type Money } from '#domain/money.ts';
import { findAttemptById, recordFacts, type AttemptRow } from '#db/attempts.ts';
import { openCase } from '#db/cases.ts';
import { violatedConstraint } from '#db/database.ts';
import { activationCodePlace, completeOrder, readOrder, type OrderRow } from '#db/orders.ts';
import type { ServiceEsim } from '#upstream/contract.ts';
import type { ServiceFailure } from '#upstream/error-mapping.ts';
import { chargeOf } from '#upstream/event-parsing.ts';
import type { DeliveryResult, OrderActivities } from '#activities/order-types.ts';
import type { OrderDependencies } from '#activities/order-context.ts';
import { askForOrder } from '#activities/order-purchase.ts';

/** A service that asks for an hour must not use up the whole time for the delivery. */
const LONGEST_RETRY_MS = 60_000;

/** The activity that fetches what was bought and completes the order. */
export function createDelivery(dependencies: OrderDependencies): Pick<OrderActivities, 'deliverEsim'> {
  const { database, keyRing, service, now } = dependencies;

  return {
    async deliverEsim({ orderId, attemptId, applied }): Promise<DeliveryResult> {
      const attempt = await withEsimId(dependencies, await database.run((db) => findAttemptById(db, attemptId)));
      if (attempt.serviceEsimId === null) return { kind: 'unreadable', detail: 'The completed order names no eSIM.' };
      const answer = await service.getEsim(attempt.serviceEsimId);
      if (!answer.ok) {
        if (answer.failure === 'contract_drift') return { kind: 'unreadable', detail: answer.detail };
        throw retryLater(answer);
      }
      const esim = answer.value;
      if (parseLpaString(esim.activation_code) === undefined) {
        return { kind: 'unreadable', detail: 'The activation code of the eSIM is not in a format that phones read.' };
      }
      const esimId = await unlessTaken(() => database.transaction(async (tx) => {
        const charged = chargedOf(attempt);
        const id = await completeOrder(
          tx,
          orderId,
          {
            attemptId,
            charged,
            applied: applied.map(BigInt),
            esim: {
              serviceEsimId: esim.id,
              iccid: esim.iccid,
              sealedActivationCode: (ownId) => keyRing.seal(esim.activation_code, activationCodePlace(ownId)),
              status: esim.status,
              installedAt: timeOf(esim.installed_at),
              activatedAt: timeOf(esim.activated_at),
              expiresAt: timeOf(esim.expires_at),
            },
          },
          new Date(now()),
        );
        const order = await readOrder(tx, orderId);
        if (charged !== undefined && exceedsLimit(order, charged)) {
          const detail = `The service charged ${charged.amount} ${charged.currency}.`;
          await openCase(tx, { kind: 'order', id: orderId }, 'charged_above_limit', detail);
        }
        return id;
      }));
      if (esimId === undefined) {
        return { kind: 'unreadable', detail: 'The service names an eSIM for this order that another order has already.' };
      }
      return { kind: 'delivered', esimId };
    },
  };
}

/** @returns undefined when the eSIM belongs to another order. */
async function unlessTaken(store: () => Promise<string>): Promise<string | undefined> {
  try {
    return await store();
  } catch (error) {
    if (violatedConstraint(error) === 'esims_service_esim_id_unique') return undefined;
    throw error;
  }
}

/** An event may name the order only: then the order is read for its eSIM and its price. */
async function withEsimId(dependencies: OrderDependencies, attempt: AttemptRow): Promise<AttemptRow> {
  if (attempt.serviceEsimId !== null && attempt.chargedAmount !== null) return attempt;
  const { database, service, now } = dependencies;
  const found = await askForOrder(service, attempt);
  if (found.kind === 'order') {
    const { order } = found;
    return database.transaction((tx) =>
      recordFacts(
        tx,
        attempt.id,
        {
          outcome: order.status,
          serviceOrderId: order.id,
          serviceEsimId: order.esim_id ?? undefined,
          charged: chargeOf(order),
        },
        new Date(now()),
      ),
    );
  }
  // Without the price the eSIM can still be delivered; the books are completed from the wallet.
  if (attempt.serviceEsimId !== null) return attempt;
  if (found.kind === 'not_found') throw ApplicationFailure.retryable('The service does not list the completed order (yet).', 'NotListed');
  throw ApplicationFailure.retryable(found.failure.detail, found.failure.class);
}

function retryLater(failure: ServiceFailure): ApplicationFailure {
  return ApplicationFailure.create({
    type: failure.failure,
    message: failure.detail,
    ...(failure.retryAfterMs !== undefined && { nextRetryDelay: Math.min(failure.retryAfterMs, LONGEST_RETRY_MS) }),
  });
}

function chargedOf(attempt: AttemptRow): Money | undefined {
  const { chargedAmount, chargedCurrency } = attempt;
  return chargedAmount === null || chargedCurrency === null ? undefined : { amount: chargedAmount, currency: chargedCurrency };
}

function exceedsLimit(order: OrderRow, charged: Money): boolean {
  const { maxPriceAmount, maxPriceCurrency } = order;
  if (maxPriceAmount === null || maxPriceCurrency === null) return false;
  if (charged.currency !== maxPriceCurrency) return true;
  return compareMoney(charged, { amount: maxPriceAmount, currency: maxPriceCurrency }) > 0;
}

function timeOf(text: ServiceEsim['installed_at']): Date | null {
  return text == null ? null : new Date(text);
}
