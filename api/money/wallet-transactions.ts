import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { actionReason } from '#api/fields/action-reason.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { csvAnswer, csvQuery, csvReply } from '#api/lists/csv-file.ts';
import { numberCursor, readNumberCursor } from '#api/lists/cursor.ts';
import { pageReply } from '#api/lists/page-reply.ts';
import {
  walletTransaction,
  walletTransactionCsv,
  walletTransactionJson,
  walletTransactionPage,
  walletTransactionQuery,
} from '#api/money/wallet-transaction-schemas.ts';
import { Problem } from '#api/problems/problem.ts';
import type { Executor } from '#db/connection/database.ts';
import { listJournal, listMovementsWithoutCause, type WalletLine } from '#db/money/journal-queries.ts';
import { explainMovement } from '#fulfilment/operator/explain-movement.ts';

const tag = 'Wallet';

/** Movements of our journal and of the service's wallet. */
export function walletTransactionOperations(dependencies: ApiDependencies): Operation[] {
  const { database, now } = dependencies;
  return [
    operation({
      id: 'listWalletTransactions',
      method: 'get',
      path: '/v1/wallet/transactions',
      tag,
      summary: 'List movements of the wallet with their causes, newest first',
      description:
        'Our journal, each row with the movement that the service has shown for it. With `cause=none`: movements ' +
        'of the service ' +
        'without a cause in our journal. The scheduled reconciliation reads the movements; this call does not.',
      scope: 'wallet:read',
      accountWide: true,
      query: walletTransactionQuery,
      answers: {
        200: jsonAnswer('A page of movements.', walletTransactionPage),
      },
      handle: async ({ query: { limit, cursor, ...filter } }) => {
        const list = filter.cause === 'none' ? 'm' : 'j';
        const after = cursor === undefined ? undefined : readNumberCursor(list, cursor);
        const found = await database.run((db) => linesOf(db, filter, { limit: limit + 1, after }));
        return pageReply(found, limit, {
          json: walletTransactionJson,
          cursor: (line) => numberCursor(list, idOf(line)),
        });
      },
    }),
    operation({
      id: 'exportWalletTransactions',
      method: 'get',
      path: '/v1/wallet/transactions.csv',
      tag,
      summary: 'Get all movements of the wallet that match as CSV, newest first',
      scope: 'wallet:read',
      accountWide: true,
      query: walletTransactionQuery.omit({ limit: true, cursor: true }).extend(csvQuery),
      answers: csvAnswer('movements'),
      problems: ['too_many_streams'],
      heavy: 'file',
      handle: async ({ query, caller }) =>
        csvReply(
          dependencies,
          { bom: query.bom, caller, scope: 'wallet:read' },
          {
            name: 'wallet-transactions',
            columns: walletTransactionCsv,
            read: async (after: bigint | undefined, limit) => {
              const found = await database.run((db) => linesOf(db, query, { limit, after }));
              return found.map((line) => ({ item: walletTransactionJson(line), position: idOf(line) }));
            },
          },
        ),
    }),
    operation({
      id: 'explainWalletTransaction',
      method: 'post',
      path: '/v1/wallet/transactions/{id}/explain',
      tag,
      summary: 'Explain a movement without a cause',
      description:
        'Books it as an adjustment, so that it is no longer reported. For a purchase made by hand at the service, a ' +
        'fee, and the like. A movement that has a cause is not changed.',
      scope: 'cases:operate',
      accountWide: true,
      params: z.strictObject({
        id: z.string().meta({ description: 'Id of a movement of the list `cause=none`, `mov_…`.', example: 'mov_7' }),
      }),
      body: z.strictObject({ reason: actionReason }).meta({ id: 'WalletTransactionExplanation' }),

      answers: {
        200: jsonAnswer('The movement with its cause.', walletTransaction, {
          example: { id: 'mov_7', cause: { kind: 'adjustment', id: 'wt_7' }, subject_kind: null, subject_id: null },
        }),
      },
      problems: ['wallet_transaction_not_found'],
      handle: async ({ params: { id }, body: { reason }, caller }) => {
        const number = /^mov_(\d{1,18})$/.exec(id)?.[1];
        if (number === undefined) throw new Problem('wallet_transaction_not_found');
        const by = { actor: caller.apiKeyId, reason };
        const movement = await database.transaction((tx) => explainMovement(tx, BigInt(number), by, new Date(now())));
        if (movement === undefined) throw new Problem('wallet_transaction_not_found');
        return jsonReply(200, walletTransactionJson({ entry: undefined, movement, work: undefined }));
      },
    }),
  ];
}

type Filter = Omit<z.output<typeof walletTransactionQuery>, 'limit' | 'cursor'>;

/** A page of the journal, or of the movements without a cause in it. */
async function linesOf(
  db: Executor,
  { cause, direction, order_id: orderId, esim_id: esimId, created_after: after, created_before: before }: Filter,
  page: { readonly limit: number; readonly after: bigint | undefined },
): Promise<WalletLine[]> {
  const filter = { direction, orderId, esimId, after, before };
  return cause === 'none' ? listMovementsWithoutCause(db, filter, page) : listJournal(db, { ...filter, cause }, page);
}

/** @throws TypeError when it has neither a journal row nor a movement. */
function idOf({ entry, movement }: WalletLine): bigint {
  const row = entry ?? movement;
  if (row === undefined) throw new TypeError('a line of the wallet is a row of the journal, a movement, or both');
  return row.id;
}
