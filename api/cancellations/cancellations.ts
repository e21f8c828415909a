import type * as z from 'zod';
import {
  cancellationInput,
  cancellationInputExample,
  cancellationListQuery,
  cancellationOutput,
  cancellationOutputExample,
  cancellationPage,
  exampleRefundId,
  refundListQuery,
  refundOutput,
  refundOutputExample,
  refundPage,
} from '#api/cancellations/cancellation-schemas.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { invalid, operation, type ApiRequest, type Operation } from '#api/http/operation.ts';
import { jsonReply, type Reply } from '#api/http/reply.ts';
import { cancellationJson, refundJson } from '#api/http/representations.ts';
import { positionCursor, readPositionCursor } from '#api/lists/cursor.ts';
import { idInPath, mayExist } from '#api/lists/fields.ts';
import { pageReply } from '#api/lists/page-reply.ts';
import { Problem } from '#api/problems/problem.ts';
import { bulkOperation } from '#api/work/bulk-actions.ts';
import { workActionOperations } from '#api/work/work-actions.ts';
import { createWork, creationAnswers } from '#api/work/work-creation.ts';
import { workReadOperations } from '#api/work/work-reads.ts';
import { listWork, workFilter, workResource, type WorkResource } from '#api/work/work-resource.ts';
import {
  findCancellationView,
  findRefundById,
  pageOfCancellations,
  pageOfRefunds,
} from '#db/work/cancellation-queries.ts';
import { findEsim } from '#db/work/esim-queries.ts';
import { acceptCancellation } from '#fulfilment/work/cancellations.ts';

const tag = 'Cancellations';
const JSON_TYPE = 'application/json';

export function cancellationResource({ now }: ApiDependencies): WorkResource {
  return workResource({
    kind: 'cancellation',
    name: 'Cancellation',
    path: '/v1/cancellations',
    tag,
    scopes: { read: 'cancellations:read', operate: 'cancellations:operate' },
    notFound: 'cancellation_not_found',
    reference: { field: 'esim_id', taken: 'cancellation_exists', isForGood: false },
    output: cancellationOutput,
    example: cancellationOutputExample,
    find: async (db, id, owner) => {
      const view = await findCancellationView(db, id, owner);
      return view && cancellationJson(view, now());
    },
  });
}

/** Cancelling eSIMs and following their refunds. */
export function cancellationOperations(dependencies: ApiDependencies): Operation[] {
  const { database, now } = dependencies;
  const resource = cancellationResource(dependencies);
  return [
    operation({
      id: 'createCancellation',
      method: 'post',
      path: '/v1/cancellations',
      tag,
      summary: 'Cancel an eSIM',
      description:
        'Stores the cancellation and answers at once; it is carried out afterwards. It is sent only if all five conditions of the refund ' +
        'are met, or with `accept_without_refund`. It is completed once the eSIM is cancelled and the money is found in the wallet. One ' +
        'cancellation of an eSIM is made; a further one only after it was refused or given up. A customer who installs the eSIM ' +
        'meanwhile may be faster: what the service answers decides.',
      scope: 'cancellations:write',
      body: cancellationInput,
      bodyExample: cancellationInputExample,
      idempotent: true,
      prefersWait: true,
      answers: creationAnswers(resource),
      problems: ['cancellation_exists'],
      handle: (request) => createCancellation(dependencies, resource, request),
    }),
    operation({
      id: 'listCancellations',
      method: 'get',
      path: '/v1/cancellations',
      tag,
      summary: 'List cancellations, newest first',
      scope: 'cancellations:read',
      query: cancellationListQuery,
      answers: {
        200: {
          description: 'A page of cancellations.',
          contentType: JSON_TYPE,
          schema: cancellationPage,
          example: { data: [cancellationOutputExample], next_cursor: null },
        },
      },
      handle: async ({ query, caller: { ownerId } }) => {
        const filter = { ...workFilter(query), esimId: query.esim_id };
        return listWork(
          resource,
          ownerId,
          query,
          (page) => database.run((db) => pageOfCancellations(db, ownerId, filter, page)),
          {
            json: (view) => cancellationJson(view, now()),
            position: ({ cancellation }) => cancellation,
          },
        );
      },
    }),
    bulkOperation(dependencies, resource),
    ...workReadOperations(dependencies, resource),
    ...workActionOperations(dependencies, resource),
    ...refundOperations(dependencies),
  ];
}

type CreateRequest = Pick<
  ApiRequest<z.ZodObject, z.ZodObject, typeof cancellationInput>,
  'body' | 'json' | 'header' | 'caller' | 'onClose'
>;

async function createCancellation(
  dependencies: ApiDependencies,
  resource: WorkResource,
  request: CreateRequest,
): Promise<Reply> {
  const { esim_id: esimId, reason = null, accept_without_refund: acceptWithoutRefund } = request.body;
  return createWork(dependencies, resource, request, async (tx, work, now) => {
    if ((await findEsim(tx, esimId, request.caller.ownerId)) === undefined) {
      throw invalid([{ in: 'body', field: 'esim_id', message: 'names no eSIM of ours' }]);
    }
    return acceptCancellation(tx, { ...work, esimId, reason, acceptWithoutRefund }, now);
  });
}

function refundOperations({ database }: ApiDependencies): Operation[] {
  return [
    operation({
      id: 'listRefunds',
      method: 'get',
      path: '/v1/refunds',
      tag,
      summary: 'List refunds, newest first',
      scope: 'cancellations:read',
      query: refundListQuery,
      answers: {
        200: {
          description: 'A page of refunds.',
          contentType: JSON_TYPE,
          schema: refundPage,
          example: { data: [refundOutputExample], next_cursor: null },
        },
      },
      handle: async ({ query, caller: { ownerId } }) => {
        const { limit, cursor, status: statuses, esim_id: esimId } = query;
        const times = {
          createdAfter: query.created_after,
          createdBefore: query.created_before,
          updatedAfter: query.updated_after,
        };
        const after = cursor === undefined ? undefined : readPositionCursor('refund', cursor);
        const found = await database.run((db) =>
          pageOfRefunds(db, ownerId, { statuses, esimId, ...times }, { limit: limit + 1, after }),
        );
        return pageReply(found, limit, { json: refundJson, cursor: (last) => positionCursor('refund', last) });
      },
    }),
    operation({
      id: 'getRefund',
      method: 'get',
      path: '/v1/refunds/{id}',
      tag,
      summary: 'Read a refund',
      scope: 'cancellations:read',
      params: idInPath('refund', exampleRefundId),
      answers: {
        200: { description: 'The refund.', contentType: JSON_TYPE, schema: refundOutput, example: refundOutputExample },
      },
      problems: ['refund_not_found'],
      handle: async ({ params: { id }, caller: { ownerId } }) => {
        const found = mayExist('refund', id) ? await database.run((db) => findRefundById(db, id, ownerId)) : undefined;
        if (found === undefined) throw new Problem('refund_not_found');
        return jsonReply(200, refundJson(found));
      },
    }),
  ];
}
