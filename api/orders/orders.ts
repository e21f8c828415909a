import type * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { type ApiRequest, type Operation, operation } from '#api/http/operation.ts';
import type { Reply } from '#api/http/reply.ts';
import {
  orderInput,
  orderInputExample,
  orderJson,
  orderListQuery,
  orderOutput,
  orderOutputExample,
  orderPage,
} from '#api/orders/order-schemas.ts';
import { bulkOperation } from '#api/work/bulk-actions.ts';
import { workActionOperations } from '#api/work/work-actions.ts';
import { createWork, creationAnswers } from '#api/work/work-creation.ts';
import { workReadOperations } from '#api/work/work-reads.ts';
import { listWork, workFilter, workResource } from '#api/work/work-resource.ts';
import { deviceImeiAad } from '#db/encryption-aads.ts';
import { findOrderView, pageOfOrders, type OrderFilter } from '#db/work/order-queries.ts';
import { acceptOrder } from '#fulfilment/work/accept-order.ts';

const tag = 'Orders';
const JSON_TYPE = 'application/json';

const orderResource = workResource({
  kind: 'order',
  name: 'Order',
  path: '/v1/orders',
  tag,
  scopes: { read: 'orders:read', operate: 'orders:operate' },
  notFound: 'order_not_found',
  reference: { field: 'external_order_id', taken: 'external_order_id_taken', isForGood: true },
  output: orderOutput,
  example: orderOutputExample,
  find: async (db, id, owner) => {
    const view = await findOrderView(db, id, owner);
    return view && orderJson(view);
  },
});

/** Buying eSIMs: create, read, list, what happened so far, and what a person can do. */
export function orderOperations(dependencies: ApiDependencies): Operation[] {
  const { database } = dependencies;
  return [
    operation({
      id: 'createOrder',
      method: 'post',
      path: '/v1/orders',
      tag,
      summary: 'Buy an eSIM package',
      description:
        'Stores the order and answers at once; the purchase follows, however long the service takes. Read the ' +
        'order, or its timeline, to follow it. The same Idempotency-Key with the same body gets the same answer ' +
        'again, ' +
        'and nothing is bought twice.',
      scope: 'orders:write',
      body: orderInput,
      bodyExample: orderInputExample,
      idempotent: true,
      prefersWait: true,
      answers: creationAnswers(orderResource),
      problems: ['external_order_id_taken'],
      handle: (request) => createOrder(dependencies, request),
    }),
    operation({
      id: 'listOrders',
      method: 'get',
      path: '/v1/orders',
      tag,
      summary: 'List orders, newest first',
      scope: 'orders:read',
      query: orderListQuery,
      answers: {
        200: {
          description: 'A page of orders.',
          contentType: JSON_TYPE,
          schema: orderPage,
          example: { data: [orderOutputExample], next_cursor: null },
        },
      },
      handle: async ({ query, caller: { ownerId } }) =>
        listWork(
          orderResource,
          ownerId,
          query,
          (page) => database.run((db) => pageOfOrders(db, ownerId, filterOf(query), page)),
          {
            json: (view) => orderJson(view),
            position: ({ order }) => order,
          },
        ),
    }),
    // Before what has an id in its place.
    bulkOperation(dependencies, orderResource),
    ...workReadOperations(dependencies, orderResource),
    ...workActionOperations(dependencies, orderResource),
  ];
}

type CreateRequest = Pick<
  ApiRequest<z.ZodObject, z.ZodObject, typeof orderInput>,
  'body' | 'json' | 'header' | 'caller' | 'onClose'
>;

async function createOrder(dependencies: ApiDependencies, request: CreateRequest): Promise<Reply> {
  const { external_order_id: externalOrderId, package_id: packageId, device_imei: imei } = request.body;
  return createWork(dependencies, orderResource, request, (tx, work, now) => {
    const encryptedDeviceImei = imei === undefined ? null : dependencies.keyRing.encrypt(imei, deviceImeiAad(work.id));
    return acceptOrder(tx, { ...work, externalOrderId, packageId, encryptedDeviceImei }, now);
  });
}

function filterOf(query: z.output<typeof orderListQuery>): OrderFilter {
  return {
    ...workFilter(query),
    externalOrderId: query.external_order_id,
    packageId: query.package_id,
    esimId: query.esim_id,
  };
}
