import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { actionReason, idInput, instant, money, timeInQuery, workKindField, usd } from '#api/fields/fields.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { amount, csvAnswer, type CsvColumns, csvQuery, csvReply, field, fields } from '#api/lists/csv-file.ts';
import { CURSORS, walletLineId } from '#api/lists/cursor.ts';
import { pageOf, pageQuery, pageReply } from '#api/lists/lists.ts';
import { requireFound } from '#api/problems/problem.ts';
import type { Executor } from '#db/connection/database.ts';
import { listJournal, listMovementsWithoutCause, type WalletLine } from '#db/money/journal-queries.ts';
import { CAUSE_KINDS, DIRECTIONS } from '#domain/money/books.ts';
import { plainAmount } from '#domain/money/money.ts';
import { explainMovement } from '#fulfilment/operator/corrections.ts';

export const direction = z
  .enum(DIRECTIONS)
  .meta({ description: '`debit`: money left the wallet at the service; `credit`: money came in.' });

export const workKind = workKindField.nullable();

export const workId = z.string().nullable().meta({
  description: 'Id of the order, top-up or VPN subscription, if the movement is about one.',
  example: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD',
});

export const nullableText = z.string().nullable();

const namedId = (what: string) =>
  nullableText.meta({ description: `Id of the ${what} at the service, if the movement has one.` });

const causeKind = z.enum(CAUSE_KINDS).meta({
  description:
    '`attempt`: the cost of an attempt to buy, or its return. `subscription_period`: a later period of a VPN ' +
    'subscription. `refund`: the credit for something that was bought. `deposit`: money paid in. `adjustment`: ' +
    'everything else.',
});

const movement = z
  .strictObject({
    id: z.string().meta({ description: 'The service’s id of the movement.', example: 'wt_7' }),
    amount: money,
    reason: z.string().meta({ description: 'The reason, in the service’s terms.', example: 'order' }),
    occurred_at: instant,
    read_at: instant.meta({ description: 'When we first read it.' }),
    service_order_id: namedId('order'),
    external_order_id: nullableText.meta({
      description:
        'The reference of the purchase at the service: yours, or with `~` and a number that of a further attempt.',
    }),
    service_esim_id: namedId('eSIM'),
    service_topup_id: namedId('top-up'),
    service_refund_id: namedId('refund'),
    service_subscription_id: namedId('VPN subscription'),
    external_subscription_id: nullableText.meta({ description: 'The same for a VPN subscription.' }),
  })
  .meta({ id: 'ServiceMovement', description: 'A movement of the wallet as the service shows it.' });

const walletTransaction = z
  .strictObject({
    id: z
      .string()
      .meta({ description: '`jrn_…` is a row of our journal, `mov_…` a movement without one.', example: 'jrn_42' }),
    direction,
    amount: money.meta({ description: 'Amount in our journal.' }),
    cause: z
      .strictObject({ kind: causeKind, id: z.string() })
      .nullable()
      .meta({ description: 'Its cause; null when it has none in our journal.' }),
    subject_kind: workKind.meta({
      description: 'The kind of work, if it is about an order, a top-up or a VPN subscription.',
      example: 'order',
    }),
    subject_id: workId,
    created_at: instant.meta({ description: 'When it was recorded here.' }),
    service: movement.nullable().meta({ description: 'Null until the service has shown it.' }),
  })
  .meta({
    id: 'WalletTransaction',
    example: {
      amount: usd('2.40'),
      cause: { kind: 'attempt', id: 'att_01JQ8Z5ZC4S8F1G2H3J4K5M6N7' },
      service: {
        id: 'wt_7',
        amount: usd('2.40'),
        reason: 'order',
        occurred_at: '2030-01-31T12:00:00.000Z',
        read_at: '2030-01-31T12:05:00.000Z',
        service_order_id: 'so_1',
        external_order_id: 'shop-4711',
        service_esim_id: null,
        service_topup_id: null,
        service_refund_id: null,
        service_subscription_id: null,
        external_subscription_id: null,
      },
    },
  });

const walletTransactionQuery = z.strictObject({
  cause: z
    .enum([...CAUSE_KINDS, 'none'])
    .optional()
    .meta({ description: 'Only movements with this kind of cause; `none`: movements without a cause in our journal.' }),
  direction: direction.optional(),
  order_id: idInput('order').optional().meta({ description: 'Only debits and credits of this order.' }),
  esim_id: idInput('esim').optional().meta({ description: 'Only debits and credits of this eSIM and its top-ups.' }),
  created_after: timeInQuery('Only recorded later than this.'),
  created_before: timeInQuery('Only recorded earlier than this.'),
  ...pageQuery,
});

function walletTransactionJson({ entry, movement: shown, work }: WalletLine): z.input<typeof walletTransaction> {
  const row = entry === undefined ? shown : entry;
  return {
    id: entry === undefined ? `mov_${row.id}` : `jrn_${row.id}`,
    direction: row.direction,
    amount: { amount: plainAmount(row.amount), currency: row.currency },
    cause: row.causeKind === null || row.causeId === null ? null : { kind: row.causeKind, id: row.causeId },
    subject_kind: work?.kind ?? null,
    subject_id: work?.id ?? null,
    created_at: ('recordedAt' in row ? row.recordedAt : row.readAt).toISOString(),
    service:
      shown === undefined
        ? null
        : {
            id: shown.serviceId,
            amount: { amount: plainAmount(shown.amount), currency: shown.currency },
            reason: shown.reason,
            occurred_at: shown.occurredAt.toISOString(),
            read_at: shown.readAt.toISOString(),
            service_order_id: shown.orderId,
            external_order_id: shown.orderReference,
            service_esim_id: shown.esimId,
            service_topup_id: shown.topupId,
            service_refund_id: shown.refundId,
            service_subscription_id: shown.subscriptionId,
            external_subscription_id: shown.subscriptionReference,
          },
  };
}

const walletTransactionCsv: CsvColumns<z.input<typeof walletTransaction>> = [
  fields('id', 'direction'),
  amount('amount', (line) => line.amount),
  field('cause_kind', ({ cause }) => cause?.kind),
  field('cause_id', ({ cause }) => cause?.id),
  fields('subject_kind', 'subject_id', 'created_at'),
  field('service_movement_id', ({ service }) => service?.id),
  amount('service_amount', ({ service }) => service?.amount),
  field('service_reason', ({ service }) => service?.reason),
  field('service_occurred_at', ({ service }) => service?.occurred_at),
];

export function walletTransactionOperations(dependencies: ApiDependencies): Operation[] {
  const { database, now } = dependencies;
  return [
    operation('GET /v1/wallet/transactions', {
      id: 'listWalletTransactions',
      summary: 'List movements of the wallet with their causes, newest first',
      description:
        'Our journal, each row with the movement that the service has shown for it. With `cause=none`: movements ' +
        'of the service ' +
        'without a cause in our journal. The scheduled reconciliation reads the movements; this call does not.',
      scope: 'wallet:read',
      query: walletTransactionQuery,
      answers: { 200: jsonAnswer('A page of movements.', pageOf(walletTransaction, 'WalletTransactionPage')) },
      handle: ({ query }) =>
        pageReply(
          query,
          CURSORS[query.cause === 'none' ? 'movementsWithoutCause' : 'journal'],
          (at) => database.run((db) => linesOf(db, query, at)),
          walletTransactionJson,
        ),
    }),
    operation('GET /v1/wallet/transactions.csv', {
      id: 'exportWalletTransactions',
      summary: 'Get all movements of the wallet that match as CSV, newest first',
      scope: 'wallet:read',
      query: walletTransactionQuery.omit({ limit: true, cursor: true }).extend(csvQuery),
      answers: csvAnswer('movements'),
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
              return found.map((line) => ({ item: walletTransactionJson(line), position: walletLineId(line) }));
            },
          },
        ),
    }),
    operation('POST /v1/wallet/transactions/{id}/explain', {
      id: 'explainWalletTransaction',
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
        const number = requireFound(/^mov_(\d{1,18})$/.exec(id)?.[1], 'wallet_transaction_not_found');
        const by = { actor: caller.apiKeyId, reason };
        const found = await database.transaction((tx) => explainMovement(tx, BigInt(number), by, new Date(now())));
        const movement = requireFound(found, 'wallet_transaction_not_found');
        return jsonReply(200, walletTransactionJson({ entry: undefined, movement, work: undefined }));
      },
    }),
  ];
}

async function linesOf(
  db: Executor,
  query: Omit<z.output<typeof walletTransactionQuery>, 'limit' | 'cursor'>,
  page: { readonly limit: number; readonly after: bigint | undefined },
): Promise<WalletLine[]> {
  const { cause, direction, order_id: orderId, esim_id: esimId, created_after: after, created_before: before } = query;
  const filter = { direction, orderId, esimId, after, before };
  return cause === 'none' ? listMovementsWithoutCause(db, filter, page) : listJournal(db, { ...filter, cause }, page);
}
