import * as z from 'zod';
import { esimExampleId, esimIdInput } from '#api/esims/esim-schemas.ts';
import {
  FILLED_TEXT_PATTERN,
  instant,
  listOf,
  money,
  ourId,
  pageOf,
  pageQuery,
  timeInQuery,
} from '#api/lists/fields.ts';
import { deadlineInput, metadata, workListQuery, workOutput, workOutputExample } from '#api/work/work-schemas.ts';
import { REFUND_CONDITIONS } from '#domain/cancellation/refund-conditions.ts';
import { REFUND_REVIEWS, REFUND_STATUSES } from '#domain/cancellation/refund.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';
import { resubmission } from '#domain/work/resubmission.ts';

export const exampleCancellationId = 'can_01JQ8ZA7G8H9J0KMNPQRSTVWXY';
export const exampleRefundId = 'ref_01JQ8ZB8H9J0KMNPQRSTVWXYZ1';

const esimId = ourId('esim', esimExampleId);

const MAX_REASON = 500;

/** One condition of the automatic refund. */
export const refundCondition = z
  .strictObject({
    name: z.enum(REFUND_CONDITIONS),
    result: z.enum(['pass', 'fail', 'unknown']),
    evidence: z.string().meta({ description: 'A sentence for people.' }),
    as_of: instant.nullable().meta({ description: 'Of when the evidence is.' }),
    age_seconds: z.number().nullable().meta({ description: 'How long ago that was.', example: 0.4 }),
  })
  .meta({ id: 'RefundCondition' });

const passed = (name: (typeof REFUND_CONDITIONS)[number], evidence: string) =>
  ({ name, result: 'pass', evidence, as_of: '2030-01-31T12:00:00.000Z', age_seconds: 0.4 }) as const;

/** All conditions, met. */
export const refundConditionsExample: z.input<typeof refundCondition>[] = [
  passed('usage_is_zero', 'No data was used.'),
  passed('never_installed', 'It was never installed.'),
  passed('never_activated', 'It was never activated.'),
  passed('no_completed_topup', 'No top-up of it is completed.'),
  passed('debit_verified', 'The wallet shows what it cost.'),
];

export const cancellationInput = z
  .strictObject({
    esim_id: esimIdInput,
    reason: z
      .string()
      .trim()
      .min(1)
      .max(MAX_REASON)
      .refine((text) => !text.includes('\0') && text.isWellFormed(), {
        message: 'must be well-formed text without NUL',
      })
      .optional()
      .meta({
        description: 'Your own note of why. Not encrypted: keep personal data out.',
        example: 'The customer travels later.',
        override: { pattern: FILLED_TEXT_PATTERN },
      }),
    accept_without_refund: z.boolean().default(false).meta({
      description:
        'Cancel it even where no refund is to be expected. Without it nothing is sent unless all five conditions of the refund are met.',
    }),
    deadline: deadlineInput('cancellation'),
    metadata: metadata.optional(),
  })
  .meta({ id: 'CancellationInput' });

export const cancellationInputExample = {
  esim_id: esimExampleId,
  reason: 'The customer travels later.',
  metadata: { shop_order: 'A-1001' },
};

export const refundOutput = z
  .strictObject({
    id: ourId('refund', exampleRefundId),
    cancellation_id: ourId('cancellation', exampleCancellationId),
    esim_id: esimId,
    order_id: ourId('order', 'ord_01JQ8Z6A2B3C4D5E6F7G8H9JKM').meta({
      description: 'The order whose price comes back.',
    }),
    service_refund_id: z.string().nullable().meta({ description: 'Id of the refund at the service.', example: '5512' }),
    status: z.enum(REFUND_STATUSES).meta({
      description:
        '`expected`: not decided, or paid and not in the wallet yet. `manual_review`: a person at the service decides. `completed`: its ' +
        'money is in the wallet. `failed`: no money comes. `needs_attention`: waits for a person here.',
      example: 'expected',
    }),
    review: z
      .enum(REFUND_REVIEWS)
      .nullable()
      .meta({ description: 'What the review at the service came to, if it says so.' }),
    amount: money.nullable().meta({ description: 'What comes back, as the service says.' }),
    created_at: instant,
    updated_at: instant,
    completed_at: instant.nullable(),
  })
  .meta({ id: 'Refund' });

export type RefundOutput = z.input<typeof refundOutput>;

export const refundOutputExample: RefundOutput = {
  id: exampleRefundId,
  cancellation_id: exampleCancellationId,
  esim_id: esimExampleId,
  order_id: 'ord_01JQ8Z6A2B3C4D5E6F7G8H9JKM',
  service_refund_id: '5512',
  status: 'completed',
  review: 'accepted',
  amount: { amount: '2.40', currency: 'USD' },
  created_at: '2030-01-31T12:00:01.000Z',
  updated_at: '2030-01-31T12:00:02.000Z',
  completed_at: '2030-01-31T12:00:02.000Z',
};

/** It spends nothing, so it has neither a limit nor a price. */
const { max_price: _limit, charged: _charged, ...common } = workOutput('cancellation', statusesOf('cancellation'));
const {
  max_price: _limitExample,
  charged: _chargedExample,
  ...commonExample
} = {
  ...workOutputExample,
  submit_again: resubmission({ kind: 'cancellation', status: 'accepted', attempts: [], inDoubt: false }),
};

export const cancellationOutput = z
  .strictObject({
    id: ourId('cancellation', exampleCancellationId),
    esim_id: esimId,
    reason: z.string().nullable(),
    accept_without_refund: z.boolean(),
    cancelled_at: instant.nullable().meta({ description: 'When the eSIM was first known to be cancelled.' }),
    preflight: z.array(refundCondition).nullable().meta({
      description:
        'The conditions of the refund as they were judged just before the newest send; `null` before the first.',
    }),
    refund: refundOutput.nullable(),
    ...common,
  })
  .meta({ id: 'Cancellation' });

export type CancellationOutput = z.input<typeof cancellationOutput>;

export const cancellationOutputExample: CancellationOutput = {
  id: exampleCancellationId,
  esim_id: esimExampleId,
  reason: 'The customer travels later.',
  accept_without_refund: false,
  cancelled_at: null,
  preflight: null,
  refund: null,
  ...commonExample,
};

export const cancellationPage = pageOf(cancellationOutput, 'CancellationPage');
export const refundPage = pageOf(refundOutput, 'RefundPage');

export const cancellationListQuery = z.strictObject({
  esim_id: esimIdInput.optional(),
  ...workListQuery(statusesOf('cancellation')),
});

export const refundListQuery = z.strictObject({
  status: listOf(REFUND_STATUSES).optional().meta({ description: 'One status, or several, separated by commas.' }),
  esim_id: esimIdInput.optional(),
  created_after: timeInQuery('Later than this.'),
  created_before: timeInQuery('Earlier than this.'),
  updated_after: timeInQuery('Changed later than this.'),
  ...pageQuery,
});
