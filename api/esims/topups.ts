import type { ApiDependencies } from '#api/dependencies.ts';
import { purchaseExpansions } from '#api/esims/esim-expansions.ts';
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
import { type Offers, wantedOf } from '#api/offers/offers.ts';
import { customerHash, newCustomer, readCustomer } from '#api/work/customer-reference.ts';
import { topupCsv } from '#api/work/work-csv.ts';
import { workOperations } from '#api/work/work-operations.ts';
import { findEsim } from '#db/esims/esim-queries.ts';
import { topupReads } from '#db/work/topups.ts';
import { acceptTopup } from '#fulfilment/accept/topup.ts';

/** Top-ups of eSIMs: create, read, list, timeline, operator actions. */
export function topupOperations(dependencies: ApiDependencies, offers: Offers): Operation[] {
  const { keyRing } = dependencies;
  return workOperations(dependencies, {
    kind: 'topup',
    name: 'Topup',
    tag: 'Top-ups',
    output: topupOutput,
    example: topupOutputExample,
    expansions: purchaseExpansions,
    reads: topupReads,
    json: (stored) => topupJson(stored, readCustomer(keyRing, 'topup', stored.row.id, stored.row)),
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
          const esim = await requireEsim(tx, esimId, caller.ownerId);
          const reference = body.customer_reference ?? readCustomer(keyRing, 'order', esim.orderId, esim);
          const customer = reference === null ? undefined : newCustomer(keyRing, 'topup', work.id, reference);
          return acceptTopup(tx, { ...work, esimId, packageId, externalTopupId, customer }, now);
        },
      quoted: ({ package_id: itemId, esim_id: esimId }) => ({ itemId, esimId }),
      objection: async ({ body, caller }) => {
        const esim = await dependencies.database.run((db) => findEsim(db, body.esim_id, caller.ownerId));
        // The transaction refuses an unknown eSIM.
        if (esim === undefined) return undefined;
        return offers.objectionTo(offers.topupOptions(esim.serviceEsimId), wantedOf('options', body.package_id, body));
      },
      added: {},
    },
    list: {
      query: topupListQuery,
      page: topupPage,
      csv: topupCsv,
      filter: (query) => ({
        esimId: query.esim_id,
        externalTopupIds: query.external_topup_id,
        packageId: query.package_id,
        customerReferenceHash: customerHash(keyRing, query.customer_reference),
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
