import type * as z from 'zod';
import {
  cancellationInput,
  cancellationInputExample,
  cancellationJson,
  cancellationListQuery,
  cancellationOutput,
  cancellationOutputExample,
  cancellationPage,
} from '#api/cancellations/cancellation-schemas.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { type ApiRequest, type Operation, invalid, operation } from '#api/http/operation.ts';
import type { Reply } from '#api/http/reply.ts';
import { bulkOperation } from '#api/work/bulk-actions.ts';
import { workActionOperations } from '#api/work/work-actions.ts';
import { createWork, creationAnswers } from '#api/work/work-creation.ts';
import { workReadOperations } from '#api/work/work-reads.ts';
import { type WorkResource, listWork, workFilter, workResource } from '#api/work/work-resource.ts';
import { findEsim } from '#db/esims/esim-queries.ts';
import { findCancellationView, pageOfCancellations } from '#db/work/cancellation-queries.ts';
import { acceptCancellation } from '#fulfilment/work/accept-cancellation.ts';

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
        'Stores the cancellation and answers at once; it is processed afterwards. It is sent only if all five ' +
        'conditions of the refund ' +
        'are met, or with `accept_without_refund`. It is completed once the eSIM is cancelled and the money is ' +
        'found in the wallet. One ' +
        'cancellation of an eSIM is made; a further one only after it was refused or given up. A customer who ' +
        'installs the eSIM ' +
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
