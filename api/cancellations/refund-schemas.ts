import * as z from 'zod';
import { esimExampleId, esimIdInput } from '#api/esims/esim-schemas.ts';
import { ourId } from '#api/fields/ids.ts';
import { instant, instantJson, timeInQuery } from '#api/fields/instant.ts';
import { money } from '#api/fields/money.ts';
import { listOf } from '#api/fields/query.ts';
import { pageOf, pageQuery } from '#api/lists/page-schemas.ts';
import type { RefundRow } from '#db/work/rows.ts';
import { REFUND_REVIEWS, REFUND_STATUSES } from '#domain/cancellation/refund.ts';
import { plainMoney } from '#domain/money/money.ts';

export const exampleRefundId = 'ref_01JQ8ZB8H9J0KMNPQRSTVWXYZ1';

export const refundOutput = z
  .strictObject({
    id: ourId('refund', exampleRefundId),
    cancellation_id: ourId('cancellation', 'can_01JQ8ZA7G8H9J0KMNPQRSTVWXY'),
    esim_id: ourId('esim', esimExampleId),
    order_id: ourId('order', 'ord_01JQ8Z6A2B3C4D5E6F7G8H9JKM').meta({
      description: 'The refunded order.',
    }),
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
  .meta({ id: 'Refund' });

export type RefundOutput = z.input<typeof refundOutput>;

export const refundOutputExample: RefundOutput = {
  id: exampleRefundId,
  cancellation_id: 'can_01JQ8ZA7G8H9J0KMNPQRSTVWXY',
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

export const refundPage = pageOf(refundOutput, 'RefundPage');

export const refundListQuery = z.strictObject({
  status: listOf(REFUND_STATUSES).optional().meta({ description: 'One status, or several, separated by commas.' }),
  esim_id: esimIdInput.optional(),
  created_after: timeInQuery('Later than this.'),
  created_before: timeInQuery('Earlier than this.'),
  updated_after: timeInQuery('Changed later than this.'),
  ...pageQuery,
});

/** A refund as the API shows it. */
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
