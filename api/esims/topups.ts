import type { ApiDependencies } from '#api/dependencies.ts';
import { requireEsim } from '#api/esims/require-esim.ts';
import {
  topupInput,
  topupInputExample,
  topupJson,
  topupListQuery,
  topupOutput,
  topupOutputExample,
  topupPage,
} from '#api/esims/topup-schemas.ts';
import type { Operation } from '#api/http/operation.ts';
import type { Offers } from '#api/offers/offers.ts';
import { workOperations } from '#api/work/work-operations.ts';
import { findEsim } from '#db/esims/esim-queries.ts';
import { topupReads } from '#db/work/topup-queries.ts';
import { acceptTopup } from '#fulfilment/accept/accept-topup.ts';

/** Top-ups of eSIMs: create, read, list, timeline, operator actions. */
export function topupOperations(dependencies: ApiDependencies, offers: Offers): Operation[] {
  return workOperations(dependencies, {
    kind: 'topup',
    name: 'Topup',
    tag: 'Top-ups',
    output: topupOutput,
    example: topupOutputExample,
    reads: topupReads,
    json: topupJson,
    priceCurrency: (found) => offers.currencyOf('packages', found),
    create: {
      summary: 'Recharge an eSIM',
      description:
        'Stores the top-up and answers at once; the purchase follows. The package must be one of the top-up options ' +
        'of the eSIM; they are read again before the purchase. One top-up of an eSIM is in progress at a time: ' +
        'another one is held until the first has ended. The same Idempotency-Key with the same body gets the same ' +
        'answer again.',
      body: topupInput,
      bodyExample: topupInputExample,
      accept:
        (_dependencies, { body, caller }) =>
        async (tx, work, now) => {
          const { esim_id: esimId, package_id: packageId, external_topup_id: externalTopupId = null } = body;
          await requireEsim(tx, esimId, caller.ownerId);
          return acceptTopup(tx, { ...work, esimId, packageId, externalTopupId }, now);
        },
      quoted: ({ package_id: itemId, esim_id: esimId }) => ({ itemId, esimId }),
      objection: async ({ body, caller }) => {
        const esim = await dependencies.database.run((db) => findEsim(db, body.esim_id, caller.ownerId));
        // The transaction refuses an unknown eSIM.
        if (esim === undefined) return undefined;
        return offers.objectionTo(offers.topupOptions(esim.serviceEsimId), {
          of: 'options',
          id: body.package_id,
          maxPrice: body.max_price,
          ifUnavailable: body.if_unavailable,
        });
      },
      added: {},
    },
    list: {
      query: topupListQuery,
      page: topupPage,
      filter: (query) => ({
        esimId: query.esim_id,
        externalTopupId: query.external_topup_id,
        packageId: query.package_id,
      }),
    },
    resolution: {
      serviceId: {
        field: 'service_topup_id',
        description: 'With `bought`: the top-up at the service, if it is not known yet.',
      },
    },
  });
}
