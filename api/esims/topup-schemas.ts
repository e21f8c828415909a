import * as z from 'zod';
import { purchaseExpansions, purchaseExpansionsOutput } from '#api/esims/esim-expansions.ts';
import { esimExampleId, esimIdInput } from '#api/esims/esim-schemas.ts';
import { ourId, packageId, packageIdInQuery } from '#api/fields/ids.ts';
import { pageOf } from '#api/lists/page-schemas.ts';
import { customerReference, customerReferenceInQuery, customerReferenceOutput } from '#api/work/customer-reference.ts';
import { callerReference, callerReferencesInQuery, purchaseInput } from '#api/work/work-input.ts';
import { referenceJson, workJson } from '#api/work/work-json.ts';
import type { WorkJson } from '#api/work/work-resource.ts';
import {
  PURCHASE_ENDS,
  referenceOutput,
  referenceOutputExample,
  workListQuery,
  workOutput,
  workOutputExample,
} from '#api/work/work-schemas.ts';
import type { StoredTopup } from '#db/work/topups.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';

const externalTopupId = callerReference('topup', 'shop-topup-000017');

const exampleTopupId = 'top_01JQ8Z7C3D4E5F6G7H8J9K0MNP';

const esimId = ourId('esim', esimExampleId);

export const topupInput = z
  .strictObject({
    esim_id: esimIdInput,
    package_id: packageId.meta({ description: "One of the eSIM's top-up options.", example: 102 }),
    external_topup_id: externalTopupId.optional(),
    ...purchaseInput('topup'),
    customer_reference: customerReference.optional().meta({
      description: 'Your reference of the customer. Without it, that of the eSIM. Stored encrypted.',
    }),
  })
  .meta({ id: 'TopupInput' });

export const topupInputExample = {
  esim_id: esimExampleId,
  package_id: 102,
  external_topup_id: 'shop-topup-000017',
  max_price: { amount: '12.50', currency: 'EUR' },
  metadata: { shop_order: 'A-1001' },
};

export const topupOutput = z
  .strictObject({
    id: ourId('topup', exampleTopupId),
    esim_id: esimId,
    package_id: packageId,
    external_topup_id: z.string().nullable().meta({ example: 'shop-topup-000017' }),
    customer_reference: customerReferenceOutput,
    service_topup_id: z.string().nullable().meta({ description: 'Id of the top-up at the service.', example: '9121' }),
    ...referenceOutput('topup', exampleTopupId),
    ...workOutput('topup', statusesOf('topup'), PURCHASE_ENDS),
    ...purchaseExpansionsOutput,
  })
  .meta({ id: 'Topup' });

export type TopupOutput = z.input<typeof topupOutput>;

export const topupOutputExample: TopupOutput = {
  id: exampleTopupId,
  esim_id: esimExampleId,
  package_id: 102,
  external_topup_id: 'shop-topup-000017',
  customer_reference: null,
  service_topup_id: null,
  ...referenceOutputExample,
  ...workOutputExample,
};

export const topupPage = pageOf(topupOutput, 'TopupPage');

export const topupListQuery = z.strictObject({
  esim_id: esimIdInput.optional(),
  external_topup_id: callerReferencesInQuery('topup'),
  package_id: packageIdInQuery.optional(),
  customer_reference: customerReferenceInQuery,
  ...workListQuery('topup', statusesOf('topup'), purchaseExpansions),
});

/**
 * @param customer the reference of its customer.
 * @throws Error when it has no eSIM, which a constraint of the database prevents.
 */
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
