import * as z from 'zod';
import { withOwnSuccessor, workFor } from '#api/access/redact-for-owner.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { purchaseExpansions, purchaseExpansionsOutput } from '#api/esims/delivered-esim.ts';
import { IDS, idInput, ourId, packageId, packageIdInQuery } from '#api/fields/fields.ts';
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
  customerReferenceInQuery,
  customerReferenceOutput,
  purchaseInput,
} from '#api/work/work-input.ts';
import { workOperations, purchaseColumns, workColumns } from '#api/work/work-operations.ts';
import { findersOf, referenceJson, type WorkJson, workJson, type WorkResource } from '#api/work/work-resource.ts';
import { workFilter, PURCHASE_ENDS, referenceOutput, workListQuery, workOutput } from '#api/work/work-schemas.ts';
import { deviceImeiAad } from '#db/encryption-aads.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { type StoredOrder, orderReads } from '#db/work/orders.ts';
import { NO_ATTEMPTS } from '#db/work/work-reads.ts';
import { isImei } from '#domain/work/identifiers.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';
import { acceptOrder } from '#fulfilment/accept/work.ts';

const orderInput = z
  .strictObject({
    package_id: packageId,
    external_order_id: callerReferenceInput('order', 'shop-2030-000123'),
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

const orderListQuery = z.strictObject({
  external_order_id: callerReferencesInQuery('order'),
  package_id: packageIdInQuery.optional(),
  esim_id: idInput('esim').optional(),
  batch_id: idInput('orderBatch').optional().meta({ description: 'Only the orders of this batch.' }),
  customer_reference: customerReferenceInQuery,
  ...workListQuery('order', statusesOf('order'), purchaseExpansions),
});

/** @public The benchmarks answer with it too. */
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

const orderCsv: CsvColumns<OrderOutput> = [
  fields('id', 'status', 'package_id', 'external_order_id', 'batch_id', 'esim_id', 'service_order_id'),
  ...purchaseColumns,
  ...workColumns,
];

export function orderOperations(dependencies: ApiDependencies, offers: Offers): Operation[] {
  const { keyRing } = dependencies;
  const show = (stored: StoredOrder, owner: Owner) =>
    workFor(
      owner,
      orderJson(withOwnSuccessor(owner, stored), readCustomer(keyRing, 'order', stored.row.id, stored.row)),
    );
  const resource: WorkResource = {
    kind: 'order',
    name: 'Order',
    output: orderOutput,
    expansions: purchaseExpansions,
    priceCurrency: (found) => offers.currencyOf('packages', found),
    resolution: {
      serviceId: {
        field: 'service_order_id',
        description: 'With `bought`: the order at the service, if it is not known yet.',
      },
      serviceEsimId: {
        field: 'service_esim_id',
        description: 'With `bought`: the eSIM at the service. Without it the eSIM is looked up.',
      },
    },
    ...findersOf(dependencies, orderReads, show),
  };
  return [
    operation('POST /v1/orders', {
      ...creationCall(resource),
      id: 'createOrder',
      summary: 'Buy an eSIM package',
      description:
        'Stores the order and answers at once; the purchase follows. Read the order, or its timeline, to follow it. ' +
        'The same Idempotency-Key with the same body gets the same answer again, and nothing is bought twice.',
      body: orderInput,
      answers: creationAnswers(resource, { esim_id: null, service_order_id: null, charged: null }),
      problems: ['external_order_id_taken', 'purchase_not_possible', 'quote_expired'],
      handle: async (request) => {
        const { package_id: packageId, external_order_id: externalOrderId, device_imei: imei } = request.body;
        const { customer_reference: reference } = request.body;
        return createWork(dependencies, resource, request, {
          reference: callerReference('order'),
          named: externalOrderId,
          objection: await offers.objectionTo(offers.packages, wantedOf('packages', packageId, request.body)),
          item: { kind: 'order', itemId: packageId, esimId: undefined },
          accept: (tx, work, now) => {
            const customer = reference === undefined ? {} : newCustomer(keyRing, 'order', work.id, reference);
            const encryptedDeviceImei = imei === undefined ? null : keyRing.encrypt(imei, deviceImeiAad(work.id));
            return acceptOrder(tx, { ...work, externalOrderId, packageId, encryptedDeviceImei, ...customer }, now);
          },
          show: (row) => show({ row, ...NO_ATTEMPTS }, request.caller.ownerId),
        });
      },
    }),
    ...workOperations(dependencies, resource, {
      query: orderListQuery,
      csv: orderCsv,
      reads: orderReads,
      show,
      filterOf: (query) => ({
        ...workFilter(query),
        externalOrderIds: query.external_order_id,
        packageId: query.package_id,
        esimId: query.esim_id,
        batchId: query.batch_id,
        customerReferenceHash: customerHash(keyRing, query.customer_reference),
      }),
    }),
  ];
}
