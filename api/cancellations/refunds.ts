import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, idInput, instant, instantJson, money, ourId, timeInQuery, usd } from '#api/fields/fields.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { listOf, pageOf, pageQuery, pageReply, timesOf } from '#api/lists/lists.ts';
import { requireFound } from '#api/problems/problem.ts';
import { findRefundById, pageOfRefunds } from '#db/work/cancellations.ts';
import type { RefundRow } from '#db/work/rows.ts';
import { REFUND_CONDITIONS, type RefundCondition } from '#domain/cancellation/refund-conditions.ts';
import { REFUND_REVIEWS, REFUND_STATUSES } from '#domain/cancellation/refund.ts';
import { plainMoney } from '#domain/money/money.ts';

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
        'decides. `completed`: its money is in the wallet. `failed`: no money comes. `needs_attention`: waits for a ' +
        'person here.',
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
      amount: usd('2.40'),
      created_at: '2030-01-31T12:00:01.000Z',
      updated_at: '2030-01-31T12:00:02.000Z',
      completed_at: '2030-01-31T12:00:02.000Z',
    },
  });

const refundListQuery = z.strictObject({
  status: listOf(REFUND_STATUSES).optional().meta({ description: 'One status, or several, separated by commas.' }),
  esim_id: idInput('esim').optional(),
  created_after: timeInQuery('Later than this.'),
  created_before: timeInQuery('Earlier than this.'),
  updated_after: timeInQuery('Changed later than this.'),
  ...pageQuery,
});

export function refundJson(refund: RefundRow): z.input<typeof refundOutput> {
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

export function refundOperations({ database }: ApiDependencies): Operation[] {
  return [
    operation('GET /v1/refunds', {
      id: 'listRefunds',
      summary: 'List refunds, newest first',
      scope: 'cancellations:read',
      query: refundListQuery,
      answers: { 200: jsonAnswer('A page of refunds.', pageOf(refundOutput, 'RefundPage')) },
      handle: async ({ query, caller: { ownerId } }) => {
        const filter = { statuses: query.status, esimId: query.esim_id, ...timesOf(query) };
        return pageReply(
          query,
          CURSORS.refund,
          (at) => database.run((db) => pageOfRefunds(db, ownerId, filter, at)),
          refundJson,
        );
      },
    }),
    operation('GET /v1/refunds/{id}', {
      id: 'getRefund',
      summary: 'Read a refund',
      scope: 'cancellations:read',
      params: idInPath('refund'),
      answers: { 200: jsonAnswer('The refund.', refundOutput) },
      handle: async ({ params: { id }, caller: { ownerId } }) => {
        const found = await database.run((db) => findRefundById(db, id, ownerId));
        return jsonReply(200, refundJson(requireFound(found, 'refund_not_found')));
      },
    }),
  ];
}
