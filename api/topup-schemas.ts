import * as z from 'zod';
import { isId } from '#domain/identifiers.ts';
import { statusesOf } from '#domain/lifecycle.ts';
import { ourId, packageId, packageIdInQuery, pageOf } from '#api/fields.ts';
import { callerReference, purchaseInput, workListQuery, workOutput, workOutputExample } from '#api/work-schemas.ts';

const externalTopupId = callerReference('topup', 'shop-topup-000017');
const exampleEsimId = 'esim_01JQ8Z6A2B3C4D5E6F7G8H9JKM';

export const exampleTopupId = 'top_01JQ8Z7C3D4E5F6G7H8J9K0MNP';

const esimId = ourId('esim', exampleEsimId);
const esimIdInput = esimId.refine((text) => isId('esim', text), { message: 'must be the id of an eSIM; it begins with `esim_`' });

export const topupInput = z
  .strictObject({
    esim_id: esimIdInput,
    package_id: packageId.meta({ description: "One of the eSIM's top-up options.", example: 102 }),
    external_topup_id: externalTopupId.optional(),
    ...purchaseInput('topup'),
  })
  .meta({ id: 'TopupInput' });

export const topupInputExample = {
  esim_id: exampleEsimId,
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
    service_topup_id: z.string().nullable().meta({ description: 'Id of the top-up at the service.', example: '9121' }),
    ...workOutput('topup', statusesOf('topup')),
  })
  .meta({ id: 'Topup' });

export type TopupOutput = z.input<typeof topupOutput>;

export const topupOutputExample: TopupOutput = {
  id: exampleTopupId,
  esim_id: exampleEsimId,
  package_id: 102,
  external_topup_id: 'shop-topup-000017',
  service_topup_id: null,
  ...workOutputExample,
};

export const topupPage = pageOf(topupOutput, 'TopupPage');

export const topupListQuery = z.strictObject({
  esim_id: esimIdInput.optional(),
  external_topup_id: externalTopupId.optional(),
  package_id: packageIdInQuery.optional(),
  ...workListQuery(statusesOf('topup')),
});
