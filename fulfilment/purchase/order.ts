import { deviceImeiAad } from '#db/encryption-aads.ts';
import { orderRow, type AttemptRow } from '#db/work/rows.ts';
import { attemptReference } from '#domain/work/identifiers.ts';
import { createEsimDelivery } from '#fulfilment/purchase/esim-delivery.ts';
import type { Found, LookUpResult, WorkHandler, WorkDependencies } from '#fulfilment/purchase/handler.ts';
import {
  resultsByReference,
  resultById,
  resultOfList,
  ownReference,
  purchaseReport,
  sinceFirstSend,
} from '#fulfilment/purchase/listing.ts';
import { priceList, notListed, unreadOffer } from '#fulfilment/purchase/offer.ts';
import { orderRequestBytes } from '#upstream/client/request-bytes.ts';
import type { ServiceOrder } from '#upstream/contract.ts';

export function orderHandler(dependencies: WorkDependencies): WorkHandler {
  const { keyRing, service, gate, now } = dependencies;
  const prices = priceList(service, { maxAgeMs: gate.priceAgeMs, now });

  const lookUp = async (attempt: AttemptRow): Promise<LookUpResult<ServiceOrder>> => {
    const { serviceId } = attempt;
    const byId = serviceId === null ? undefined : resultById(await service.getOrder(serviceId), found);
    if (byId !== undefined && !isUnfilled(byId)) return byId;
    // Some services name the eSIM in their list only.
    const list = await service.findOrdersByReference(ownReference(attempt));
    const listed = resultOfList(list, { found, noun: 'orders' });
    return byId === undefined || isSameFilled(byId, listed) ? listed : byId;
  };

  const lookUpMany: WorkHandler['lookUpMany'] = async (attempts, { maxPages }) => {
    const since = Math.min(...attempts.map(sinceFirstSend));
    return resultsByReference(await service.listRecentOrders({ since, maxPages }), attempts, {
      found,
      noun: 'orders',
      namesOf: ({ id, external_order_id: reference }) => ({ id, reference }),
    });
  };

  return {
    async prepare(_db, row, number) {
      const { id, packageId, encryptedDeviceImei: encrypted, ...stored } = orderRow(row);
      const reference = attemptReference(stored.externalOrderId, stored.referenceUse, number);
      const deviceImei = encrypted === null ? undefined : keyRing.decryptText(encrypted, deviceImeiAad(id));
      const body = orderRequestBytes({ packageId, reference, ...(deviceImei !== undefined && { deviceImei }) });
      return Promise.resolve({ reference, body });
    },

    async examine(row, { priceNeeded }) {
      const { packageId } = orderRow(row);
      if (!priceNeeded) return { price: (await prices.get()).value?.get(packageId) };
      const packages = await service.listPackages();
      if (!packages.ok) return { objection: unreadOffer(packages, 'The price') };
      const offered = packages.value.items.find(({ id }) => id === packageId);
      if (offered === undefined) {
        return {
          objection: notListed(packages.value, 'package_unavailable', 'The service does not list this package.'),
        };
      }
      return { price: { amount: offered.price_for_reseller, currency: offered.currency } };
    },

    async send(attempt, row, body, leaseLeftMs) {
      const { idempotencyKey } = attempt;
      const { packageId } = orderRow(row);
      const answer = await service.createOrder({
        idempotencyKey,
        reference: ownReference(attempt),
        packageId,
        body,
        leaseLeftMs,
      });
      return answer.ok ? { ...answer, value: purchaseReport(answer.value, answer.value.status) } : answer;
    },

    lookUp,
    lookUpMany,

    complete: createEsimDelivery(dependencies, lookUp),
  };
}

function isUnfilled(result: LookUpResult<ServiceOrder>): boolean {
  return result.kind === 'found' && result.facts.outcome === 'completed' && result.record.esim_id == null;
}

function isSameFilled(byId: LookUpResult<ServiceOrder>, listed: LookUpResult<ServiceOrder>): boolean {
  if (byId.kind !== 'found' || listed.kind !== 'found') return false;
  return listed.record.id === byId.record.id && listed.facts.outcome === 'completed' && !isUnfilled(listed);
}

function found(order: ServiceOrder): Found<ServiceOrder> {
  return { kind: 'found', facts: purchaseReport(order, order.status), record: order, event: `order.${order.status}` };
}
