import type * as z from 'zod';
import { acceptOrder } from '#db/order-intake.ts';
import { newId } from '#db/ids.ts';
import { findOrderView, listOrderTimeline, listOrderViews, orderExists, type OrderFilter } from '#db/order-queries.ts';
import { deviceImeiPlace } from '#db/orders.ts';
import { numberCursor, orderCursor, readNumberCursor, readOrderCursor } from '#api/cursor.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, mayExist } from '#api/fields.ts';
import { answerOnce } from '#api/idempotency.ts';
import { invalid, operation, type ApiRequest, type Operation } from '#api/operation.ts';
import {
  orderInput,
  orderInputExample,
  orderListQuery,
  orderOutput,
  orderOutputExample,
  orderPage,
  timelinePage,
  timelineQuery,
} from '#api/order-schemas.ts';
import { Problem } from '#api/problem.ts';
import { jsonReply, type Reply } from '#api/reply.ts';
import { orderJson, timelineJson } from '#api/representations.ts';

const tag = 'Orders';
const path = idInPath('order', orderOutputExample.id);
const JSON_TYPE = 'application/json';

type OrderInput = z.output<typeof orderInput>;

/** Buying eSIMs: create, read, list, and what happened so far. */
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
        const after = cursor === undefined ? undefined : readOrderCursor(cursor);
        // One more than asked for tells whether there is a next page.
        const views = await database.run((db) => listOrderViews(db, filterOf(query), { limit: limit + 1, after }));
        const shown = views.slice(0, limit);
        const last = views.length > limit ? shown.at(-1)?.order : undefined;
        return jsonReply(200, { data: shown.map(orderJson), next_cursor: last === undefined ? null : orderCursor(last) });
      },
    }),
    operation({
      id: 'getOrder',
      method: 'get',
      path: '/v1/orders/{id}',
      tag,
      summary: 'Read an order',
      scope: 'orders:read',
      params: path,
      answers: {
        200: { description: 'The order.', contentType: JSON_TYPE, schema: orderOutput, example: orderOutputExample },
      },
      problems: ['order_not_found'],
      handle: async ({ params: { id } }) => {
        const view = mayExist('order', id) ? await database.run((db) => findOrderView(db, id)) : undefined;
        if (view === undefined) throw new Problem('order_not_found');
        return jsonReply(200, orderJson(view));
      },
    }),
    operation({
      id: 'getOrderTimeline',
      method: 'get',
      path: '/v1/orders/{id}/timeline',
      tag,
      summary: 'Read what happened to an order, oldest first',
      scope: 'orders:read',
      params: path,
      query: timelineQuery,
      answers: {
        200: {
          description: 'A page of the timeline.',
          contentType: JSON_TYPE,
          schema: timelinePage,
          example: {
            data: [
              {
                at: '2030-01-31T12:00:00.000Z',
                event: 'order.accepted',
                message: 'The order was accepted and stored; its workflow is about to start.',
                detail: { package_id: 101 },
              },
            ],
            next_cursor: null,
          },
        },
      },
      problems: ['order_not_found'],
      handle: async ({ params: { id }, query: { limit, cursor } }) => {
        const after = cursor === undefined ? undefined : readNumberCursor('t', cursor);
        const entries = await database.run(async (db) => {
          if (!mayExist('order', id) || !(await orderExists(db, id))) throw new Problem('order_not_found');
          return listOrderTimeline(db, id, { limit: limit + 1, after });
        });
        const shown = entries.slice(0, limit);
        const last = entries.length > limit ? shown.at(-1)?.id : undefined;
        return jsonReply(200, {
          data: shown.map(timelineJson),
          next_cursor: last === undefined ? null : numberCursor('t', last),
        });
      },
    }),
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

function requireFuture(deadline: Date | undefined, now: Date): void {
  if (deadline !== undefined && deadline <= now) {
    throw invalid([{ in: 'body', field: 'deadline', message: 'must lie in the future' }]);
  }
}

function taken(existingOrderId: string): Problem {
  return new Problem('external_order_id_taken', {
    detail: `Order ${existingOrderId} was made for this external_order_id.`,
    extra: { existing: { id: existingOrderId, href: `/v1/orders/${existingOrderId}` } },
  });
}

function filterOf(query: z.output<typeof orderListQuery>): OrderFilter {
  return {
    status: query.status,
    externalOrderId: query.external_order_id,
    packageId: query.package_id,
    failureClass: query.failure_class,
    attentionReason: query.attention,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
  };
}
