import * as z from 'zod';
import { esimExpansion, purchaseExpansionsOutput } from '#api/esims/delivered-esim.ts';
import {
  FILLED_TEXT_PATTERN,
  filledText,
  idInput,
  instant,
  instantJson,
  money,
  ourId,
  timeInQuery,
} from '#api/fields/fields.ts';
import { amount, type CsvColumns, field, fields } from '#api/lists/csv-file.ts';
import { listOf, pageOf, pageQuery } from '#api/lists/lists.ts';
import { customerReferenceInQuery, deadlineInput, metadata } from '#api/work/work-input.ts';
import { workJson } from '#api/work/work-json.ts';
import { workColumns } from '#api/work/work-operations.ts';
import type { WorkJson } from '#api/work/work-resource.ts';
import { workListQuery, workOutput } from '#api/work/work-schemas.ts';
import type { StoredCancellation } from '#db/work/cancellations.ts';
import type { RefundRow } from '#db/work/rows.ts';
import {
  ON_UNMET_CONDITIONS,
  REFUND_CONDITIONS,
  type RefundCondition,
} from '#domain/cancellation/refund-conditions.ts';
import { REFUND_REVIEWS, REFUND_STATUSES } from '#domain/cancellation/refund.ts';
import { plainMoney } from '#domain/money/money.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';

const MAX_REASON = 500;

export const cancellationInput = z
  .strictObject({
    reason: filledText(MAX_REASON)
      .optional()
      .meta({
        description: 'Your reason. Not encrypted: do not include personal data.',
        example: 'The customer travels later.',
        override: { pattern: FILLED_TEXT_PATTERN },
      }),
    on_unmet_conditions: z
      .enum(ON_UNMET_CONDITIONS)
      .default('refuse')
      .meta({
        description:
          'What you want if a condition of the automatic refund is not met, or is not known. `refuse`: nothing ' +
          'is sent, and the cancellation is refused. `ask_for_review`: it is sent, and the service decides; if it ' +
          'cancels the eSIM without a refund, the cancellation needs attention. `cancel_without_refund`: it is ' +
          'sent, and is completed also if no refund comes. With the last two the service can still refuse.',
      }),
    deadline: deadlineInput('cancellation'),
    metadata: metadata.optional(),
  })
  .meta({ id: 'CancellationInput' });

export const refundCondition = z
  .strictObject({
    name: z.enum(REFUND_CONDITIONS).meta({ description: 'The condition; `evidence` is a sentence about it.' }),
    result: z
      .enum(['pass', 'fail', 'unknown'])
      .meta({ description: '`unknown`: the service does not show it, or could not be read.' }),
    evidence: z.string().meta({ description: 'A human-readable sentence.', example: 'No data was used.' }),
    as_of: instant.nullable().meta({ description: 'Time of the evidence.', example: '2030-01-31T12:00:00.000Z' }),
    age_seconds: z.number().nullable().meta({ description: 'Age of the evidence in seconds.', example: 0.4 }),
  })
  .meta({ id: 'RefundCondition' });

/** @param now epoch milliseconds. */
export function refundConditionJson({ name, result, evidence, asOf }: RefundCondition, now: number) {
  return {
    name,
    result,
    evidence,
    as_of: asOf === undefined ? null : new Date(asOf).toISOString(),
    age_seconds: asOf === undefined ? null : Math.max(0, now - asOf) / 1_000,
  };
}

export const refundOutput = z
  .strictObject({
    id: ourId('refund'),
    cancellation_id: ourId('cancellation'),
    esim_id: ourId('esim'),
    order_id: ourId('order').meta({ description: 'The refunded order.' }),
    service_refund_id: z.string().nullable().meta({ description: 'Id of the refund at the service.', example: '5512' }),
    status: z.enum(REFUND_STATUSES).meta({
      description:
        '`expected`: not decided, or paid and not in the wallet yet. `manual_review`: a person at the service ' +
        'decides. `completed`: its ' +
        'money is in the wallet. `failed`: no money comes. `needs_attention`: waits for a person here.',
      example: 'expected',
    }),
    review: z
      .enum(REFUND_REVIEWS)
      .nullable()
      .meta({ description: 'The result of the review at the service, if it is known.' }),
    amount: money.nullable().meta({ description: 'Amount of the refund, as the service reports it.' }),
    created_at: instant,
    updated_at: instant,
    completed_at: instant.nullable(),
  })
  .meta({
    id: 'Refund',
    example: {
      status: 'completed',
      review: 'accepted',
      amount: { amount: '2.40', currency: 'USD' },
      created_at: '2030-01-31T12:00:01.000Z',
      updated_at: '2030-01-31T12:00:02.000Z',
      completed_at: '2030-01-31T12:00:02.000Z',
    },
  });

export type RefundOutput = z.input<typeof refundOutput>;

export const refundPage = pageOf(refundOutput, 'RefundPage');

export const refundListQuery = z.strictObject({
  status: listOf(REFUND_STATUSES).optional().meta({ description: 'One status, or several, separated by commas.' }),
  esim_id: idInput('esim').optional(),
  created_after: timeInQuery('Later than this.'),
  created_before: timeInQuery('Earlier than this.'),
  updated_after: timeInQuery('Changed later than this.'),
  ...pageQuery,
});

export function refundJson(refund: RefundRow): RefundOutput {
  return {
    id: refund.id,
    cancellation_id: refund.cancellationId,
    esim_id: refund.esimId,
    order_id: refund.orderId,
    service_refund_id: refund.serviceRefundId,
    status: refund.status,
    review: refund.review,
    amount: plainMoney(refund.amount, refund.currency),
    created_at: refund.createdAt.toISOString(),
    updated_at: refund.updatedAt.toISOString(),
    completed_at: instantJson(refund.completedAt),
  };
}

const ENDS = '`completed`, `refused` and `abandoned` are final; after the last two the eSIM is unchanged.';

/** A cancellation spends nothing, so it has neither a limit nor a price. */
const {
  max_price: _limit,
  charged: _charged,
  ...common
} = workOutput('cancellation', statusesOf('cancellation'), ENDS);

export const cancellationOutput = z
  .strictObject({
    id: ourId('cancellation'),
    esim_id: ourId('esim'),
    reason: z.string().nullable().meta({ example: 'The customer travels later.' }),
    on_unmet_conditions: z.enum(ON_UNMET_CONDITIONS),
    cancelled_at: instant.nullable().meta({
      description: 'When the eSIM was first known to be cancelled.',
      example: '2030-01-31T12:00:01.000Z',
    }),
    preflight: z.array(refundCondition).nullable().meta({
      description: 'The conditions of the refund, checked just before the newest send; `null` before the first.',
    }),
    refund: refundOutput.nullable(),
    ...common,
    esim: purchaseExpansionsOutput.esim,
  })
  .meta({ id: 'Cancellation' });

export type CancellationOutput = z.input<typeof cancellationOutput>;

export const cancellationPage = pageOf(cancellationOutput, 'CancellationPage');

export const cancellationExpansions = [esimExpansion] as const;

export const cancellationListQuery = z.strictObject({
  esim_id: idInput('esim').optional(),
  customer_reference: customerReferenceInQuery,
  ...workListQuery('cancellation', statusesOf('cancellation'), cancellationExpansions),
});

/** @throws Error when it has no eSIM, which a constraint of the database prevents. */
export function cancellationJson(
  { row: cancellation, refund, serviceId: _serviceId, ...facts }: StoredCancellation,
  now: number,
): CancellationOutput & WorkJson {
  if (cancellation.esimId === null) throw new Error(`cancellation ${cancellation.id} has no eSIM`);
  const { max_price: _limit, charged: _charged, ...work } = workJson('cancellation', cancellation, facts);
  return {
    id: cancellation.id,
    status: cancellation.status,
    esim_id: cancellation.esimId,
    reason: cancellation.reason,
    on_unmet_conditions: cancellation.onUnmetConditions,
    cancelled_at: instantJson(cancellation.cancelledAt),
    preflight:
      cancellation.preflight === null
        ? null
        : cancellation.preflight.map((condition) => refundConditionJson(condition, now)),
    refund: refund === null ? null : refundJson(refund),
    ...work,
  };
}

export const cancellationCsv: CsvColumns<CancellationOutput> = [
  fields('id', 'status', 'esim_id', 'reason', 'cancelled_at'),
  field('refund_status', ({ refund }) => refund?.status),
  amount('refund', ({ refund }) => refund?.amount),
  ...workColumns,
];
