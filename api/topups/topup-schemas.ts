import * as z from 'zod';
import { purchaseExpansions, purchaseExpansionsOutput } from '#api/esims/delivered-esim.ts';
import { idInput, ourId, packageId, packageIdInQuery } from '#api/fields/fields.ts';
import { type CsvColumns, fields } from '#api/lists/csv-file.ts';
import { pageOf } from '#api/lists/lists.ts';
import {
  callerReferenceInput,
  callerReferencesInQuery,
  customerReference,
  customerReferenceInQuery,
  customerReferenceOutput,
  purchaseInput,
} from '#api/work/work-input.ts';
import { referenceJson, workJson } from '#api/work/work-json.ts';
import { purchaseColumns, workColumns } from '#api/work/work-lists.ts';
import type { WorkJson } from '#api/work/work-resource.ts';
import { PURCHASE_ENDS, referenceOutput, workListQuery, workOutput } from '#api/work/work-schemas.ts';
import type { StoredTopup } from '#db/work/topups.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';

const externalTopupId = callerReferenceInput('topup', 'shop-topup-000017');

export const topupInput = z
  .strictObject({
    esim_id: idInput('esim'),
    package_id: packageId.meta({ description: "One of the eSIM's top-up options.", example: 1002 }),
    external_topup_id: externalTopupId.optional(),
    ...purchaseInput('topup'),
    customer_reference: customerReference.optional().meta({
      description: 'Your reference of the customer. Without it, that of the eSIM. Stored encrypted.',
    }),
  })
  .meta({ id: 'TopupInput' });

export const topupOutput = z
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

export type TopupOutput = z.input<typeof topupOutput>;

export const topupPage = pageOf(topupOutput, 'TopupPage');

export const topupListQuery = z.strictObject({
  esim_id: idInput('esim').optional(),
  external_topup_id: callerReferencesInQuery('topup'),
  package_id: packageIdInQuery.optional(),
  customer_reference: customerReferenceInQuery,
  ...workListQuery('topup', statusesOf('topup'), purchaseExpansions),
});

/** @throws Error when it has no eSIM, which a constraint of the database prevents. */
export function topupJson(
  { row: topup, serviceId, ...facts }: StoredTopup,
  customer: string | null,
): TopupOutput & WorkJson {
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

export const topupCsv: CsvColumns<TopupOutput> = [
  fields('id', 'status', 'package_id', 'external_topup_id', 'esim_id', 'service_topup_id'),
  ...purchaseColumns,
  ...workColumns,
];
