import type * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import {
  topupInput,
  topupInputExample,
  topupJson,
  topupListQuery,
  topupOutput,
  topupOutputExample,
  topupPage,
} from '#api/esims/topup-schemas.ts';
import { type ApiRequest, type Operation, invalid, operation } from '#api/http/operation.ts';
import type { Reply } from '#api/http/reply.ts';
import { bulkOperation } from '#api/work/bulk-actions.ts';
import { workActionOperations } from '#api/work/work-actions.ts';
import { createWork, creationAnswers } from '#api/work/work-creation.ts';
import { workReadOperations } from '#api/work/work-reads.ts';
import { listWork, workFilter, workResource } from '#api/work/work-resource.ts';
import { findEsim } from '#db/esims/esim-queries.ts';
import { findTopupView, pageOfTopups, type TopupFilter } from '#db/work/topup-queries.ts';
import { acceptTopup } from '#fulfilment/work/accept-topup.ts';

const tag = 'Top-ups';
const JSON_TYPE = 'application/json';

const topupResource = workResource({
  kind: 'topup',
  name: 'Topup',
  path: '/v1/topups',
  tag,
  scopes: { read: 'topups:read', operate: 'topups:operate' },
  notFound: 'topup_not_found',
  reference: { field: 'external_topup_id', taken: 'external_topup_id_taken', isForGood: true },
  output: topupOutput,
  example: topupOutputExample,
  find: async (db, id, owner) => {
    const view = await findTopupView(db, id, owner);
    return view && topupJson(view);
  },
});

/** Recharging eSIMs: create, read, list, what happened so far, and what a person can do. */
export function topupOperations(dependencies: ApiDependencies): Operation[] {
  const { database } = dependencies;
  return [
    operation({
      id: 'createTopup',
      method: 'post',
      path: '/v1/topups',
      tag,
      summary: 'Recharge an eSIM',
      description:
        'Stores the top-up and answers at once; the purchase follows. The package must be one of the top-up ' +
        'options of ' +
        'the eSIM; they are read again before anything is bought. One top-up of an eSIM is under way at a time: ' +
        'a further one is ' +
        'held until the first has ended. The same Idempotency-Key with the same body gets the same answer again.',
      scope: 'topups:write',
      body: topupInput,
      bodyExample: topupInputExample,
      idempotent: true,
      prefersWait: true,
      answers: creationAnswers(topupResource),
      problems: ['external_topup_id_taken'],
      handle: (request) => createTopup(dependencies, request),
    }),
    operation({
      id: 'listTopups',
      method: 'get',
      path: '/v1/topups',
      tag,
      summary: 'List top-ups, newest first',
      scope: 'topups:read',
      query: topupListQuery,
      answers: {
        200: {
          description: 'A page of top-ups.',
          contentType: JSON_TYPE,
          schema: topupPage,
          example: { data: [topupOutputExample], next_cursor: null },
        },
      },
      handle: async ({ query, caller: { ownerId } }) =>
        listWork(
          topupResource,
          ownerId,
          query,
          (page) => database.run((db) => pageOfTopups(db, ownerId, filterOf(query), page)),
          {
            json: (view) => topupJson(view),
            position: ({ topup }) => topup,
          },
        ),
    }),
    // Before what has an id in its place.
    bulkOperation(dependencies, topupResource),
    ...workReadOperations(dependencies, topupResource),
    ...workActionOperations(dependencies, topupResource),
  ];
}

type CreateRequest = Pick<
  ApiRequest<z.ZodObject, z.ZodObject, typeof topupInput>,
  'body' | 'json' | 'header' | 'caller' | 'onClose'
>;

async function createTopup(dependencies: ApiDependencies, request: CreateRequest): Promise<Reply> {
  const { esim_id: esimId, package_id: packageId, external_topup_id: externalTopupId = null } = request.body;
  return createWork(dependencies, topupResource, request, async (tx, work, now) => {
    if ((await findEsim(tx, esimId, request.caller.ownerId)) === undefined) {
      throw invalid([{ in: 'body', field: 'esim_id', message: 'names no eSIM of ours' }]);
    }
    return acceptTopup(tx, { ...work, esimId, packageId, externalTopupId }, now);
  });
}

function filterOf(query: z.output<typeof topupListQuery>): TopupFilter {
  return {
    ...workFilter(query),
    esimId: query.esim_id,
    externalTopupId: query.external_topup_id,
    packageId: query.package_id,
  };
}
