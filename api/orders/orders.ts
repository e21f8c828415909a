import { withOwnSuccessor, workFor } from '#api/access/redact-for-owner.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { purchaseExpansions } from '#api/esims/delivered-esim.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import type { Offers } from '#api/offers/offers.ts';
import { orderCsv, orderInput, orderJson, orderListQuery, orderOutput, orderPage } from '#api/orders/order-schemas.ts';
import { wantedOf } from '#api/problems/purchase-not-possible.ts';
import { callerReference, createWork, creationAnswers, creationCall } from '#api/work/create-work.ts';
import { customerHash, newCustomer, readCustomer } from '#api/work/work-input.ts';
import { workOperations } from '#api/work/work-operations.ts';
import { findersOf, type WorkResource } from '#api/work/work-resource.ts';
import { workFilter } from '#api/work/work-schemas.ts';
import { deviceImeiAad } from '#db/encryption-aads.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { orderReads, type StoredOrder } from '#db/work/orders.ts';
import { NO_ATTEMPTS } from '#db/work/work-reads.ts';
import { acceptOrder } from '#fulfilment/accept/work.ts';

export function orderOperations(dependencies: ApiDependencies, offers: Offers): Operation[] {
  const { keyRing } = dependencies;
  const show = (stored: StoredOrder, owner: Owner) =>
    workFor(
      owner,
      orderJson(withOwnSuccessor(owner, stored), readCustomer(keyRing, 'order', stored.row.id, stored.row)),
    );
  const resource: WorkResource = {
    kind: 'order',
    name: 'Order',
    output: orderOutput,
    expansions: purchaseExpansions,
    priceCurrency: (found) => offers.currencyOf('packages', found),
    resolution: {
      serviceId: {
        field: 'service_order_id',
        description: 'With `bought`: the order at the service, if it is not known yet.',
      },
      serviceEsimId: {
        field: 'service_esim_id',
        description: 'With `bought`: the eSIM at the service. Without it the eSIM is looked up.',
      },
    },
    ...findersOf(dependencies, orderReads, show),
  };
  return [
    operation('POST /v1/orders', {
      ...creationCall(resource),
      id: 'createOrder',
      summary: 'Buy an eSIM package',
      description:
        'Stores the order and answers at once; the purchase follows. Read the order, or its timeline, to follow it. ' +
        'The same Idempotency-Key with the same body gets the same answer again, and nothing is bought twice.',
      body: orderInput,
      answers: creationAnswers(resource, { esim_id: null, service_order_id: null, charged: null }),
      problems: ['external_order_id_taken', 'purchase_not_possible', 'quote_expired'],
      handle: async (request) => {
        const { package_id: packageId, external_order_id: externalOrderId, device_imei: imei } = request.body;
        const { customer_reference: reference } = request.body;
        return createWork(dependencies, resource, request, {
          reference: callerReference('order'),
          named: externalOrderId,
          objection: await offers.objectionTo(offers.packages, wantedOf('packages', packageId, request.body)),
          item: { kind: 'order', itemId: packageId, esimId: undefined },
          accept: (tx, work, now) => {
            const customer = reference === undefined ? {} : newCustomer(keyRing, 'order', work.id, reference);
            const encryptedDeviceImei = imei === undefined ? null : keyRing.encrypt(imei, deviceImeiAad(work.id));
            return acceptOrder(tx, { ...work, externalOrderId, packageId, encryptedDeviceImei, ...customer }, now);
          },
          show: (row) => show({ row, ...NO_ATTEMPTS }, request.caller.ownerId),
        });
      },
    }),
    ...workOperations(dependencies, resource, {
      query: orderListQuery,
      page: orderPage,
      csv: orderCsv,
      reads: orderReads,
      show,
      filterOf: (query) => ({
        ...workFilter(query),
        externalOrderIds: query.external_order_id,
        packageId: query.package_id,
        esimId: query.esim_id,
        batchId: query.batch_id,
        customerReferenceHash: customerHash(keyRing, query.customer_reference),
      }),
    }),
  ];
}
