import {
  exampleRefundId,
  refundJson,
  refundListQuery,
  refundOutput,
  refundOutputExample,
  refundPage,
} from '#api/cancellations/refund-schemas.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, mayExist } from '#api/fields/ids.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { positionCursor, readPositionCursor } from '#api/lists/cursor.ts';
import { pageReply } from '#api/lists/page-reply.ts';
import { Problem } from '#api/problems/problem.ts';
import { findRefundById, pageOfRefunds } from '#db/work/cancellations.ts';

const tag = 'Cancellations';
const JSON_TYPE = 'application/json';

/** Refunds of cancelled eSIMs: list and read. */
export function refundOperations({ database }: ApiDependencies): Operation[] {
  return [
    operation({
      id: 'listRefunds',
      method: 'get',
      path: '/v1/refunds',
      tag,
      summary: 'List refunds, newest first',
      scope: 'cancellations:read',
      query: refundListQuery,
      answers: {
        200: {
          description: 'A page of refunds.',
          contentType: JSON_TYPE,
          schema: refundPage,
          example: { data: [refundOutputExample], next_cursor: null },
        },
      },
      handle: async ({ query, caller: { ownerId } }) => {
        const { limit, cursor, status: statuses, esim_id: esimId } = query;
        const times = {
          createdAfter: query.created_after,
          createdBefore: query.created_before,
          updatedAfter: query.updated_after,
        };
        const after = cursor === undefined ? undefined : readPositionCursor('refund', cursor);
        const found = await database.run((db) =>
          pageOfRefunds(db, ownerId, { statuses, esimId, ...times }, { limit: limit + 1, after }),
        );
        return pageReply(found, limit, { json: refundJson, cursor: (last) => positionCursor('refund', last) });
      },
    }),
    operation({
      id: 'getRefund',
      method: 'get',
      path: '/v1/refunds/{id}',
      tag,
      summary: 'Read a refund',
      scope: 'cancellations:read',
      params: idInPath('refund', exampleRefundId),
      answers: {
        200: { description: 'The refund.', contentType: JSON_TYPE, schema: refundOutput, example: refundOutputExample },
      },
      problems: ['refund_not_found'],
      handle: async ({ params: { id }, caller: { ownerId } }) => {
        const found = mayExist('refund', id) ? await database.run((db) => findRefundById(db, id, ownerId)) : undefined;
        if (found === undefined) throw new Problem('refund_not_found');
        return jsonReply(200, refundJson(found));
      },
    }),
  ];
}
