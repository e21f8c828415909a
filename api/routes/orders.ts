import type * as z from 'zod';
import { acceptOrder } from '#db/order-intake.ts';
import { newId } from '#db/ids.ts';
import { findOrderView, listOrderViews, type OrderFilter } from '#db/order-queries.ts';
import { deviceImeiPlace } from '#db/orders.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { answerOnce } from '#api/idempotency.ts';
import { operation, type ApiRequest, type Operation } from '#api/operation.ts';
import {
  orderInput,
  orderInputExample,
  orderListQuery,
  orderOutput,
  orderOutputExample,
  orderPage,
} from '#api/order-schemas.ts';
import { Problem } from '#api/problem.ts';
import { jsonReply, type Reply } from '#api/reply.ts';
import { orderJson } from '#api/representations.ts';
import { workActionOperations } from '#api/routes/work-actions.ts';
import { workReadOperations } from '#api/routes/work-reads.ts';
import { pageJson, pageStart, requireFuture, workFilter, type WorkResource } from '#api/work-resource.ts';

const tag = 'Orders';
const JSON_TYPE = 'application/json';

const orderResource: WorkResource = {
  kind: 'order',
  name: 'Order',
  path: '/v1/orders',
  tag,
  scopes: { read: 'orders:read', operate: 'orders:operate' },
  notFound: 'order_not_found',
  output: orderOutput,
  example: orderOutputExample,
  find: async (db, id) => {
    const view = await findOrderView(db, id);
    return view && orderJson(view);
  },
};

type OrderInput = z.output<typeof orderInput>;

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
        'Stores the order and answers at once; it is carried out afterwards, however long the service takes. Read the ' +
        'order, or its timeline, to follow it. The same Idempotency-Key with the same body gets the same answer again, ' +
        'and nothing is bought twice.',
      scope: 'orders:write',
      body: orderInput,
      bodyExample: orderInputExample,
      idempotent: true,
      answers: {
        202: {
          description: 'The order is stored and will be carried out.',
          contentType: JSON_TYPE,
          schema: orderOutput,
          example: orderOutputExample,
          headers: {
            Location: 'Address of the order.',
            'Idempotent-Replayed': '`true` when this is the stored answer to an earlier request with the same key.',
          },
        },
      },
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
      handle: async ({ query }) => {
        const { limit, cursor } = query;
        const options = { limit: limit + 1, after: pageStart(orderResource, cursor) };
        const views = await database.run((db) => listOrderViews(db, filterOf(query), options));
        return jsonReply(200, pageJson(orderResource, views, limit, { json: orderJson, position: ({ order }) => order }));
      },
    }),
    ...workReadOperations(dependencies, orderResource),
    ...workActionOperations(dependencies, orderResource),
  ];
}

type CreateRequest = Pick<ApiRequest<z.ZodObject, z.ZodObject, typeof orderInput>, 'body' | 'json' | 'header' | 'caller'>;

async function createOrder(dependencies: ApiDependencies, request: CreateRequest): Promise<Reply> {
  const { apiKeyId } = request.caller;
  const reply = await answerOnce(
    dependencies,
    { apiKeyId, header: request.header('Idempotency-Key'), target: 'POST /v1/orders', json: request.json },
    async (tx) => {
      const now = new Date(dependencies.now());
      // Only a new order needs a deadline that lies ahead: a repetition may come after it.
      requireFuture(request.body.deadline, now);
      const id = newId('order');
      const intake = await acceptOrder(tx, newOrder(dependencies, id, apiKeyId, request.body), now);
      if (!intake.accepted) throw taken(intake.existingOrderId);
      const view = await findOrderView(tx, id);
      if (view === undefined) throw new Error(`order ${id} was stored and cannot be read`);
      return jsonReply(202, orderJson(view), { Location: `/v1/orders/${id}` });
    },
  );
  dependencies.wakeRelay();
  return reply;
}

function newOrder({ keyRing }: ApiDependencies, id: string, apiKeyId: string, input: OrderInput) {
  const { device_imei: imei, max_price: maxPrice } = input;
  return {
    id,
    apiKeyId,
    externalOrderId: input.external_order_id,
    packageId: input.package_id,
    sealedDeviceImei: imei === undefined ? null : keyRing.seal(imei, deviceImeiPlace(id)),
    maxPrice: maxPrice ?? null,
    deadlineAt: input.deadline ?? null,
    metadata: input.metadata ?? {},
  };
}

function taken(existingOrderId: string): Problem {
  return new Problem('external_order_id_taken', {
    detail: `Order ${existingOrderId} was made for this external_order_id.`,
    extra: { existing: { id: existingOrderId, href: `/v1/orders/${existingOrderId}` } },
  });
}

function filterOf(query: z.output<typeof orderListQuery>): OrderFilter {
  return { ...workFilter(query), externalOrderId: query.external_order_id, packageId: query.package_id };
}
