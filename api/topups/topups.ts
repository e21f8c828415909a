import * as z from 'zod';
import { withOwnSuccessor, workFor } from '#api/access/redact-for-owner.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { purchaseExpansions, requireEsim, purchaseExpansionsOutput } from '#api/esims/delivered-esim.ts';
import { idInput, ourId, packageId, packageIdInQuery } from '#api/fields/fields.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import { type CsvColumns, fields } from '#api/lists/csv-file.ts';
import type { Offers } from '#api/offers/offers.ts';
import { wantedOf } from '#api/problems/purchase-not-possible.ts';
import { callerReference, createWork, creationAnswers, creationCall } from '#api/work/create-work.ts';
import {
  customerHash,
  newCustomer,
  readCustomer,
  callerReferenceInput,
  callerReferencesInQuery,
  customerReference,
  customerReferenceInQuery,
  customerReferenceOutput,
  purchaseInput,
} from '#api/work/work-input.ts';
import { purchaseColumns, workColumns, workOperations } from '#api/work/work-operations.ts';
import { findersOf, referenceJson, type WorkJson, workJson, type WorkResource } from '#api/work/work-resource.ts';
import { workFilter, PURCHASE_ENDS, referenceOutput, workListQuery, workOutput } from '#api/work/work-schemas.ts';
import { findEsim } from '#db/esims/esim-queries.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { type StoredTopup, topupReads } from '#db/work/topups.ts';
import { NO_ATTEMPTS } from '#db/work/work-reads.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';
import { acceptTopup } from '#fulfilment/accept/work.ts';

const topupInput = z
  .strictObject({
    esim_id: idInput('esim'),
    package_id: packageId.meta({ description: "One of the eSIM's top-up options.", example: 1002 }),
    external_topup_id: callerReferenceInput('topup', 'shop-topup-000017').optional(),
    ...purchaseInput('topup'),
    customer_reference: customerReference.optional().meta({
      description: 'Your reference of the customer. Without it, that of the eSIM. Stored encrypted.',
    }),
  })
  .meta({ id: 'TopupInput' });

const topupOutput = z
  .strictObject({
    id: ourId('topup'),
    esim_id: ourId('esim'),
    package_id: packageId.meta({ example: 1002 }),
    external_topup_id: z.string().nullable().meta({ example: 'shop-topup-000017' }),
    customer_reference: customerReferenceOutput,
    service_topup_id: z.string().nullable().meta({ description: 'Id of the top-up at the service.', example: '9121' }),
    ...referenceOutput('topup'),
    ...workOutput('topup', statusesOf('topup'), PURCHASE_ENDS),
    ...purchaseExpansionsOutput,
  })
  .meta({ id: 'Topup' });

type TopupOutput = z.input<typeof topupOutput>;

const topupListQuery = z.strictObject({
  esim_id: idInput('esim').optional(),
  external_topup_id: callerReferencesInQuery('topup'),
  package_id: packageIdInQuery.optional(),
  customer_reference: customerReferenceInQuery,
  ...workListQuery('topup', statusesOf('topup'), purchaseExpansions),
});

/** @throws Error when it has no eSIM, which a constraint of the database prevents. */
function topupJson({ row: topup, serviceId, ...facts }: StoredTopup, customer: string | null): TopupOutput & WorkJson {
  if (topup.esimId === null) throw new Error(`top-up ${topup.id} has no eSIM`);
  return {
    id: topup.id,
    status: topup.status,
    esim_id: topup.esimId,
    package_id: topup.packageId,
    external_topup_id: topup.externalTopupId,
    customer_reference: customer,
    service_topup_id: serviceId,
    ...referenceJson(topup, facts),
    ...workJson('topup', topup, facts),
  };
}

const topupCsv: CsvColumns<TopupOutput> = [
  fields('id', 'status', 'package_id', 'external_topup_id', 'esim_id', 'service_topup_id'),
  ...purchaseColumns,
  ...workColumns,
];

export function topupOperations(dependencies: ApiDependencies, offers: Offers): Operation[] {
  const { database, keyRing } = dependencies;
  const show = (stored: StoredTopup, owner: Owner) =>
    workFor(
      owner,
      topupJson(withOwnSuccessor(owner, stored), readCustomer(keyRing, 'topup', stored.row.id, stored.row)),
    );
  const resource: WorkResource = {
    kind: 'topup',
    name: 'Topup',
    output: topupOutput,
    expansions: purchaseExpansions,
    priceCurrency: (found) => offers.currencyOf('packages', found),
    resolution: {
      serviceId: {
        field: 'service_topup_id',
        description: 'With `bought`: the top-up at the service, if it is not known yet.',
      },
    },
    ...findersOf(dependencies, topupReads, show),
  };
  return [
    operation('POST /v1/topups', {
      ...creationCall(resource),
      id: 'createTopup',
      summary: 'Recharge an eSIM',
      description:
        'Stores the top-up and answers at once; the purchase follows. The package must be one of the top-up options ' +
        'of the eSIM; they are read again before the purchase. One top-up of an eSIM is in progress at a time: ' +
        'another one is held until the first has ended. The same Idempotency-Key with the same body gets the same ' +
        'answer again.',
      body: topupInput,
      answers: creationAnswers(resource, { service_topup_id: null, charged: null }),
      problems: ['external_topup_id_taken', 'purchase_not_possible', 'quote_expired'],
      handle: async (request) => {
        const { body, caller } = request;
        const { esim_id: esimId, package_id: packageId, external_topup_id: externalTopupId } = body;
        const found = await database.run((db) => findEsim(db, esimId, caller.ownerId));
        return createWork(dependencies, resource, request, {
          reference: callerReference('topup'),
          named: externalTopupId,
          // The transaction refuses an unknown eSIM.
          objection:
            found &&
            (await offers.objectionTo(offers.topupOptions(found.serviceEsimId), wantedOf('options', packageId, body))),
          item: { kind: 'topup', itemId: packageId, esimId },
          accept: async (tx, work, now) => {
            const esim = await requireEsim(tx, esimId, caller.ownerId);
            const reference = body.customer_reference ?? readCustomer(keyRing, 'order', esim.orderId, esim);
            const customer = reference === null ? {} : newCustomer(keyRing, 'topup', work.id, reference);
            return acceptTopup(tx, { ...work, esimId, packageId, externalTopupId, ...customer }, now);
          },
          show: (row) => show({ row, ...NO_ATTEMPTS }, caller.ownerId),
        });
      },
    }),
    ...workOperations(dependencies, resource, {
      query: topupListQuery,
      csv: topupCsv,
      reads: topupReads,
      show,
      filterOf: (query) => ({
        ...workFilter(query),
        esimId: query.esim_id,
        externalTopupIds: query.external_topup_id,
        packageId: query.package_id,
        customerReferenceHash: customerHash(keyRing, query.customer_reference),
      }),
    }),
  ];
}
