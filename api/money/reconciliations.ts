import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, mayExist } from '#api/fields/ids.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { readReconciliationCursor, reconciliationCursor } from '#api/lists/cursor.ts';
import { pageReply } from '#api/lists/page-reply.ts';
import {
  reconciliation,
  reconciliationExampleId,
  reconciliationJson,
  reconciliationPage,
  reconciliationQuery,
  reconciliationSummaryJson,
} from '#api/money/reconciliation-schemas.ts';
import { Problem } from '#api/problems/problem.ts';
import { findReconciliation, listReconciliations } from '#db/money/reconciliations.ts';

const tag = 'Wallet';

/** Comparisons of our books with the wallet at the service. */
export function reconciliationOperations({ database }: ApiDependencies): Operation[] {
  return [
    operation({
      id: 'listReconciliations',
      method: 'get',
      path: '/v1/wallet/reconciliations',
      tag,
      summary: 'List comparisons of our books with the wallet, newest first',
      scope: 'wallet:read',
      accountWide: true,
      query: reconciliationQuery,
      answers: {
        200: jsonAnswer('A page of reports, without their findings.', reconciliationPage),
      },
      handle: async ({
        query: { limit, cursor, status, created_after: startedAfter, created_before: startedBefore },
      }) => {
        const after = cursor === undefined ? undefined : readReconciliationCursor(cursor);
        const filter = { status, startedAfter, startedBefore };
        const found = await database.run((db) => listReconciliations(db, filter, { limit: limit + 1, after }));
        return pageReply(found, limit, { json: reconciliationSummaryJson, cursor: reconciliationCursor });
      },
    }),
    operation({
      id: 'getReconciliation',
      method: 'get',
      path: '/v1/wallet/reconciliations/{id}',
      tag,
      summary: 'Read a comparison of our books with the wallet',
      scope: 'wallet:read',
      accountWide: true,
      params: idInPath('reconciliation', reconciliationExampleId),
      answers: {
        200: jsonAnswer('The report.', reconciliation),
      },
      problems: ['reconciliation_not_found'],
      handle: async ({ params: { id } }) => {
        const found = mayExist('reconciliation', id)
          ? await database.run((db) => findReconciliation(db, id))
          : undefined;
        if (found === undefined) throw new Problem('reconciliation_not_found');
        return jsonReply(200, reconciliationJson(found));
      },
    }),
  ];
}
