import * as z from 'zod';
import {
  createdBy,
  createdByInQuery,
  instant,
  instantJson,
  money,
  ourId,
  packageId,
  timeInQuery,
  wholeNumber,
  usd,
} from '#api/fields/fields.ts';
import { listOf, pageQuery } from '#api/lists/lists.ts';
import { customerReferenceOutput, itemMetadata, metadata, purchaseInput, readCustomer } from '#api/work/work-input.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { StoredBatch } from '#db/work/orders.ts';
import { paddedMoney } from '#domain/money/money.ts';
import {
  MAX_BATCH,
  MAX_BATCH_REFERENCE,
  batchOrderReference,
  CALLER_REFERENCE_CHARACTERS,
  isCallerReference,
} from '#domain/work/identifiers.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';

const EXAMPLE_REFERENCE = 'campaign-2030';

const externalBatchId = z
  .string()
  .refine((text) => isCallerReference(text) && text.length <= MAX_BATCH_REFERENCE, {
    message: `must have 1 to ${MAX_BATCH_REFERENCE} visible ASCII characters other than \`~\``,
  })
  .meta({
    description:
      'Your reference of the batch, permanently unique. Its orders have references that follow from it: ' +
      `\`${batchOrderReference(EXAMPLE_REFERENCE, 1)}\`, \`${batchOrderReference(EXAMPLE_REFERENCE, 2)}\`, …`,
    example: EXAMPLE_REFERENCE,
    override: { pattern: `^${CALLER_REFERENCE_CHARACTERS}{1,${MAX_BATCH_REFERENCE}}$` },
  });

export const BATCHES_PATH = '/v1/order-batches';

/** Longer than the longest body that the schema allows. */
export const BATCH_BODY_LIMIT = 3 * 1_048_576;

const quantity = wholeNumber(1, MAX_BATCH);

const batchItem = z
  .strictObject({
    package_id: packageId,
    quantity: quantity.default(1).meta({ description: 'Number of eSIMs, each of which is an order.', example: 3 }),
    ...purchaseInput('order'),
    metadata: itemMetadata.optional(),
  })
  .meta({ id: 'OrderBatchItemInput' });

export const batchInput = z
  .strictObject({
    external_batch_id: externalBatchId,
    items: z
      .array(batchItem)
      .min(1)
      .max(MAX_BATCH)
      .refine((items) => items.reduce((sum, item) => sum + item.quantity, 0) <= MAX_BATCH, {
        message: `must have quantities of at most ${MAX_BATCH} in all`,
      })
      .meta({
        description: `At most ${MAX_BATCH} eSIMs in all. Limit, deadline, customer and metadata are of each order.`,
      }),
    metadata: metadata.optional().meta({ description: 'Your own data of the batch, returned unchanged.' }),
  })
  .meta({ id: 'OrderBatchInput' });

const BATCH_STATUSES = ['in_progress', 'completed'] as const;

export const batchOutput = z
  .strictObject({
    id: ourId('orderBatch').meta({ description: 'Id of the batch.' }),
    external_batch_id: z.string().meta({ example: EXAMPLE_REFERENCE }),
    status: z.enum(BATCH_STATUSES).meta({
      description: '`completed`: each of its orders has ended, as `completed`, `failed` or `abandoned`.',
      example: 'completed',
    }),
    size: z.int().min(1).meta({ description: 'Number of its orders.', example: 3 }),
    counts: z
      .strictObject(Object.fromEntries(statusesOf('order').map((status) => [status, z.int().min(0)])))
      .meta({ description: 'Number of its orders by status.', example: { completed: 3 } }),
    charged: z.array(money).meta({
      description: 'Sum of the amounts that the service charged, for each currency.',
      example: [usd('29.40')],
    }),
    items: z.array(
      z
        .strictObject({
          package_id: packageId,
          quantity: quantity.meta({ example: 3 }),
          max_price: money.nullable(),
          customer_reference: customerReferenceOutput,
          metadata: z.record(z.string(), z.string()),
        })
        .meta({ id: 'OrderBatchItem' }),
    ),
    metadata: z.record(z.string(), z.string()),
    created_by: createdBy,
    created_at: instant,
    completed_at: instant
      .nullable()
      .meta({ description: 'When its last order ended.', example: '2030-01-31T12:00:04.000Z' }),
    cancel_requested_at: instant
      .nullable()
      .meta({ description: 'When it was cancelled: since then, no order that has bought nothing is sent.' }),
  })
  .meta({ id: 'OrderBatch' });

export const batchListQuery = z.strictObject({
  external_batch_id: externalBatchId.optional(),
  status: listOf(BATCH_STATUSES).optional(),
  created_by: createdByInQuery.optional(),
  created_after: timeInQuery('Later than this.'),
  created_before: timeInQuery('Earlier than this.'),
  ...pageQuery,
});

export function batchJson(
  { row, counts, charged, ofItems }: StoredBatch,
  keyRing: KeyRing,
): z.input<typeof batchOutput> {
  return {
    id: row.id,
    external_batch_id: row.externalBatchId,
    status: row.completedAt === null ? 'in_progress' : 'completed',
    size: row.size,
    counts: Object.fromEntries(statusesOf('order').map((status) => [status, counts.get(status) ?? 0])),
    charged: charged.map(paddedMoney),
    items: row.items.map(({ packageId: id, quantity: number, maxPrice }, index) => {
      const order = ofItems[index];
      return {
        package_id: id,
        quantity: number,
        max_price: maxPrice,
        customer_reference: order === undefined ? null : readCustomer(keyRing, 'order', order.id, order),
        metadata: order?.metadata ?? {},
      };
    }),
    metadata: row.metadata,
    created_by: row.apiKeyId,
    created_at: row.createdAt.toISOString(),
    completed_at: instantJson(row.completedAt),
    cancel_requested_at: instantJson(row.cancelRequestedAt),
  };
}
