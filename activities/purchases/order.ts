import { isDefinite } from '#domain/failure.ts';
import { attemptReference } from '#domain/identifiers.ts';
import { deviceImeiPlace, readOrder } from '#db/orders.ts';
import type { ServiceFacts } from '#db/attempts.ts';
import type { ServiceOrder } from '#upstream/contract.ts';
import { chargeOf } from '#upstream/event-parsing.ts';
import { orderRequestBytes } from '#upstream/request-bytes.ts';
import { noteOf, type WorkDependencies } from '#activities/work-context.ts';
import { createEsimDelivery } from '#activities/purchases/esim-delivery.ts';
import { inquiryOf } from '#activities/purchases/inquiry.ts';
import type { Inquiry, PurchaseKind } from '#activities/purchases/kind.ts';
import { priceAboveLimit, priceLimit, refusal } from '#activities/purchases/price.ts';
import { namesNothing } from '#activities/purchases/wallet.ts';

/** How an eSIM package is bought: `POST /orders`, found again by our reference. */
export function orderPurchases(dependencies: WorkDependencies): PurchaseKind {
  const { database, keyRing, service } = dependencies;

  const ask: PurchaseKind['ask'] = async ({ serviceId, reference }) => {
    if (serviceId !== null) {
      const read = await service.getOrder(serviceId);
      if (read.ok) return found(read.value);
      // It may have been given another id than we were told; its reference finds it all the same.
      if (read.kind === 'failure' && read.status !== 404) return { kind: 'unavailable', failure: noteOf(read) };
    }
    const orders = await service.findOrdersByReference(ownReference(reference));
    return inquiryOf(orders, { found, noun: 'orders' });
  };

  return {
    async prepare(db, orderId, number) {
      const order = await readOrder(db, orderId);
      const reference = attemptReference(order.externalOrderId, number);
      const sealed = order.sealedDeviceImei;
      const deviceImei = sealed === null ? undefined : keyRing.openText(sealed, deviceImeiPlace(orderId));
      const { packageId } = order;
      const body = orderRequestBytes({ packageId, reference, ...(deviceImei !== undefined && { deviceImei }) });
      return { reference, body };
    },

    async examine(orderId) {
      const order = await database.run((db) => readOrder(db, orderId));
      const limit = priceLimit(order);
      if (limit === undefined) return undefined;
      const packages = await service.listPackages();
      if (!packages.ok) {
        return isDefinite(packages.failure) ? packages : refusal('not_sent', 'The price could not be read, so nothing was sent.');
      }
      const offered = packages.value.items.find(({ id }) => id === order.packageId);
      if (offered === undefined) return refusal('package_unavailable', 'The service does not list this package.');
      return priceAboveLimit(limit, { amount: offered.price_for_reseller, currency: offered.currency });
    },

    async send({ idempotencyKey, reference }, body) {
      const answer = await service.createOrder({ idempotencyKey, reference: ownReference(reference), body });
      return answer.ok ? { ...answer, value: factsOf(answer.value) } : answer;
    },

    ask,

    owns: ({ serviceId, reference }, { order_id: orderId, external_order_id: named }) =>
      (orderId != null && orderId === serviceId) || (named != null && named === reference),

    isAnonymous: namesNothing,

    complete: createEsimDelivery(dependencies, ask),
  };
}

function found(order: ServiceOrder): Extract<Inquiry<ServiceOrder>, { kind: 'found' }> {
  return { kind: 'found', facts: factsOf(order), record: order, event: `order.${order.status}` };
}

function factsOf(order: ServiceOrder): ServiceFacts {
  return {
    outcome: order.status,
    serviceId: order.id,
    serviceEsimId: order.esim_id ?? undefined,
    charged: chargeOf(order),
    failureDetail: order.failure == null ? undefined : `The service reports: ${order.failure.code}.`,
  };
}

/** Every attempt of an order has one; the column is null for kinds whose interface takes none. */
function ownReference(reference: string | null): string {
  if (reference === null) throw new Error('an attempt of an order has no reference');
  return reference;
}
