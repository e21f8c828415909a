import * as z from 'zod';
import { purchaseExpansions, purchaseExpansionsOutput } from '#api/esims/delivered-esim.ts';
import { IDS, idInput, ourId, packageId, packageIdInQuery } from '#api/fields/fields.ts';
import { type CsvColumns, fields } from '#api/lists/csv-file.ts';
import { pageOf } from '#api/lists/lists.ts';
import {
  callerReferenceInput,
  callerReferencesInQuery,
  customerReferenceInQuery,
  customerReferenceOutput,
  purchaseInput,
} from '#api/work/work-input.ts';
import { referenceJson, workJson } from '#api/work/work-json.ts';
import { purchaseColumns, workColumns } from '#api/work/work-operations.ts';
import type { WorkJson } from '#api/work/work-resource.ts';
import { PURCHASE_ENDS, referenceOutput, workListQuery, workOutput } from '#api/work/work-schemas.ts';
import type { StoredOrder } from '#db/work/orders.ts';
import { isImei } from '#domain/work/identifiers.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';

const externalOrderId = callerReferenceInput('order', 'shop-2030-000123');

export const orderInput = z
  .strictObject({
    package_id: packageId,
    external_order_id: externalOrderId,
    device_imei: z
      .string()
      .refine(isImei, { message: 'must have 14 to 16 digits and nothing else' })
      .optional()
      .meta({
        description: 'IMEI of the device: 14 to 16 digits. Stored encrypted, sent to the service, never returned.',
        override: { pattern: '^[0-9]{14,16}$' },
      }),
    ...purchaseInput('order'),
  })
  .meta({ id: 'OrderInput' });

export const orderOutput = z
  .strictObject({
    id: ourId('order'),
    package_id: packageId,
    external_order_id: z.string().meta({ example: 'shop-2030-000123' }),
    customer_reference: customerReferenceOutput,
    batch_id: ourId('orderBatch')
      .nullable()
      .meta({ description: 'The batch that it was accepted with; null: ordered by itself.' }),
    esim_id: ourId('esim').nullable().meta({ example: IDS.esim.example }),
    service_order_id: z.string().nullable().meta({ description: 'Id of the order at the service.', example: '48151' }),
    ...referenceOutput('order'),
    ...workOutput('order', statusesOf('order'), PURCHASE_ENDS),
    ...purchaseExpansionsOutput,
  })
  .meta({ id: 'Order' });

export type OrderOutput = z.input<typeof orderOutput>;

export const orderPage = pageOf(orderOutput, 'OrderPage');

export const orderListQuery = z.strictObject({
  external_order_id: callerReferencesInQuery('order'),
  package_id: packageIdInQuery.optional(),
  esim_id: idInput('esim').optional(),
  batch_id: idInput('orderBatch').optional().meta({ description: 'Only the orders of this batch.' }),
  customer_reference: customerReferenceInQuery,
  ...workListQuery('order', statusesOf('order'), purchaseExpansions),
});

export function orderJson(
  { row: order, serviceId, ...facts }: StoredOrder,
  customer: string | null,
): OrderOutput & WorkJson {
  return {
    id: order.id,
    status: order.status,
    package_id: order.packageId,
    external_order_id: order.externalOrderId,
    customer_reference: customer,
    batch_id: order.batchId,
    esim_id: order.esimId,
    service_order_id: serviceId,
    ...referenceJson(order, facts),
    ...workJson('order', order, facts),
  };
}

export const orderCsv: CsvColumns<OrderOutput> = [
  fields('id', 'status', 'package_id', 'external_order_id', 'batch_id', 'esim_id', 'service_order_id'),
  ...purchaseColumns,
  ...workColumns,
];
