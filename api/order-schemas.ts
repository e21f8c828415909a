import * as z from 'zod';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/failure.ts';
import { isCallerReference, isImei } from '#domain/identifiers.ts';
import { statusesOf } from '#domain/lifecycle.ts';
import {
  instant,
  instantInput,
  money,
  moneyInput,
  ourId,
  packageId,
  packageIdInQuery,
  pageOf,
  pageQuery,
} from '#api/fields.ts';

const MAX_METADATA = 20;
const MAX_METADATA_VALUE = 500;

const metadataKey = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/, 'must have 1 to 40 letters, digits, `_`, `.` or `-` and begin with a letter or digit');

const metadataValue = z
  .string()
  .max(MAX_METADATA_VALUE)
  // PostgreSQL stores neither NUL nor half of a surrogate pair in JSON.
  .refine((text) => !text.includes('\0') && text.isWellFormed(), { message: 'must be well-formed text without NUL' });

const metadata = z
  .record(metadataKey, metadataValue)
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA, { message: `must have at most ${MAX_METADATA} pairs` })
  .meta({
    description: 'Your own notes, returned as they are. Not encrypted: keep personal data out.',
    example: { shop_order: 'A-1001' },
    override: { maxProperties: MAX_METADATA },
  });

const externalOrderId = z
  .string()
  .refine(isCallerReference, { message: 'must have 1 to 64 visible ASCII characters other than `~`' })
  .meta({
    description: 'Your own reference, unique for ever: one order is made for it, however often you ask.',
    example: 'shop-2030-000123',
    override: { pattern: '^[!-}]{1,64}$' },
  });

const exampleOrderId = 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD';

export const orderInput = z
  .strictObject({
    package_id: packageId,
    external_order_id: externalOrderId,
    device_imei: z
      .string()
      .refine(isImei, { message: 'must have 14 to 16 digits and nothing else' })
      .optional()
      .meta({
        description: 'IMEI of the device: 14 to 16 digits. Stored encrypted, given to the service, never returned.',
        override: { pattern: '^[0-9]{14,16}$' },
      }),
    max_price: moneyInput.optional().meta({
      description: 'The most that the service may charge. While it asks for more, the order is held.',
    }),
    deadline: instantInput.optional().meta({
      description: 'An order that is still held then fails without having bought. In the future. Default: 24 hours.',
      override: { type: 'string', format: 'date-time' },
    }),
    metadata: metadata.optional(),
  })
  .meta({ id: 'OrderInput' });

export const orderInputExample = {
  package_id: 101,
  external_order_id: 'shop-2030-000123',
  max_price: { amount: '12.50', currency: 'EUR' },
  metadata: { shop_order: 'A-1001' },
};

const failureClass = z.enum(Object.keys(FAILURE_CLASSES) as [FailureClass, ...FailureClass[]]);
const attentionReason = z.enum(Object.keys(ATTENTION_REASONS) as [AttentionReason, ...AttentionReason[]]);

export const orderOutput = z
  .strictObject({
    id: ourId('order', exampleOrderId),
    status: z.enum(statusesOf('order')).meta({
      description:
        '`accepted`: stored, not begun. `held`: waits for something that passes by itself. `submitting`: being bought. ' +
        '`processing`: the service works on it. `needs_attention`: waits for a person. `completed`, `failed` and ' +
        '`abandoned` are final; `failed` means definitely not bought.',
      example: 'processing',
    }),
    package_id: packageId,
    external_order_id: z.string().meta({ example: 'shop-2030-000123' }),
    esim_id: ourId('esim', 'esim_01JQ8Z6A2B3C4D5E6F7G8H9JKM').nullable(),
    service_order_id: z.string().nullable().meta({ description: 'Id of the order at the service.', example: '48151' }),
    max_price: money.nullable(),
    charged: money.nullable().meta({ description: 'What the service charged, once it is known.' }),
    failure: z
      .strictObject({
        class: failureClass,
        detail: z.string().nullable(),
        meaning: z.string(),
        advice: z.string(),
      })
      .nullable()
      .meta({ description: 'Why it failed, or what holds it at present.' }),
    attention: z
      .strictObject({ reason: attentionReason, meaning: z.string(), advice: z.string() })
      .nullable()
      .meta({ description: 'What it waits for a person for.' }),
    next_step_at: instant.nullable().meta({ description: 'When time brings the next step, if time does.' }),
    deadline: instant.nullable(),
    metadata: z.record(z.string(), z.string()),
    attempts: z.int().min(0).meta({ description: 'How often it was tried to buy.' }),
    created_at: instant,
    updated_at: instant,
    completed_at: instant.nullable(),
  })
  .meta({ id: 'Order' });

export type OrderOutput = z.input<typeof orderOutput>;

export const orderOutputExample: OrderOutput = {
  id: exampleOrderId,
  status: 'accepted',
  package_id: 101,
  external_order_id: 'shop-2030-000123',
  esim_id: null,
  service_order_id: null,
  max_price: { amount: '12.50', currency: 'EUR' },
  charged: null,
  failure: null,
  attention: null,
  next_step_at: null,
  deadline: null,
  metadata: { shop_order: 'A-1001' },
  attempts: 0,
  created_at: '2030-01-31T12:00:00.000Z',
  updated_at: '2030-01-31T12:00:00.000Z',
  completed_at: null,
};

export const orderPage = pageOf(orderOutput, 'OrderPage');

export const orderListQuery = z.strictObject({
  status: z.enum(statusesOf('order')).optional(),
  external_order_id: externalOrderId.optional(),
  package_id: packageIdInQuery.optional(),
  failure_class: failureClass.optional().meta({ description: 'What holds them, or why they failed.' }),
  attention: attentionReason.optional().meta({ description: 'What they wait for a person for.' }),
  created_after: instantInput.optional().meta({ description: 'Later than this.', override: { type: 'string', format: 'date-time' } }),
  created_before: instantInput.optional().meta({ description: 'Earlier than this.', override: { type: 'string', format: 'date-time' } }),
  ...pageQuery,
});

export const timelineEntry = z
  .strictObject({
    at: instant,
    event: z.string().meta({ description: 'Stable name.', example: 'order.accepted' }),
    message: z.string().meta({ description: 'A sentence for people.' }),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  })
  .meta({ id: 'TimelineEntry' });

export const timelinePage = pageOf(timelineEntry, 'TimelinePage');
export const timelineQuery = z.strictObject(pageQuery);
