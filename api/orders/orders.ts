import type { ApiDependencies } from '#api/dependencies.ts';
import { purchaseExpansions } from '#api/esims/esim-expansions.ts';
import type { Operation } from '#api/http/operation.ts';
import { type Offers, wantedOf } from '#api/offers/offers.ts';
import {
  orderInput,
  orderInputExample,
  orderJson,
  orderListQuery,
  orderOutput,
  orderOutputExample,
  orderPage,
} from '#api/orders/order-schemas.ts';
import { customerHash, newCustomer, readCustomer } from '#api/work/customer-reference.ts';
import { orderCsv } from '#api/work/work-csv.ts';
import { workOperations } from '#api/work/work-operations.ts';
import { deviceImeiAad } from '#db/encryption-aads.ts';
import { orderReads } from '#db/work/orders.ts';
import { acceptOrder } from '#fulfilment/accept/order.ts';

/** Orders of eSIMs: create, read, list, timeline, operator actions. */
export function orderOperations(dependencies: ApiDependencies, offers: Offers): Operation[] {
  const { keyRing } = dependencies;
  return workOperations(dependencies, {
    kind: 'order',
    name: 'Order',
    tag: 'Orders',
    output: orderOutput,
    example: orderOutputExample,
    expansions: purchaseExpansions,
    reads: orderReads,
    json: (stored) => orderJson(stored, readCustomer(keyRing, 'order', stored.row.id, stored.row)),
    priceCurrency: (found) => offers.currencyOf('packages', found),
    create: {
      summary: 'Buy an eSIM package',
      description:
        'Stores the order and answers at once; the purchase follows. Read the order, or its timeline, to follow it. ' +
        'The same Idempotency-Key with the same body gets the same answer again, and nothing is bought twice.',
      body: orderInput,
      bodyExample: orderInputExample,
      accept:
        (_dependencies, { body }) =>
        (tx, work, now) => {
          const { external_order_id: externalOrderId, package_id: packageId, device_imei: imei } = body;
          const { customer_reference: reference } = body;
          const customer = reference === undefined ? undefined : newCustomer(keyRing, 'order', work.id, reference);
          const encryptedDeviceImei = imei === undefined ? null : keyRing.encrypt(imei, deviceImeiAad(work.id));
          return acceptOrder(tx, { ...work, externalOrderId, packageId, encryptedDeviceImei, customer }, now);
        },
      quoted: ({ package_id: itemId }) => ({ itemId, esimId: undefined }),
      objection: ({ body }) => offers.objectionTo(offers.packages, wantedOf('packages', body.package_id, body)),
      added: {},
    },
    list: {
      query: orderListQuery,
      page: orderPage,
      csv: orderCsv,
      filter: (query) => ({
        externalOrderIds: query.external_order_id,
        packageId: query.package_id,
        esimId: query.esim_id,
        batchId: query.batch_id,
        customerReferenceHash: customerHash(keyRing, query.customer_reference),
      }),
    },
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
  });
}
