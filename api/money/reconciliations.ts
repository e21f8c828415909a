import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, instant, enumOf, meaningsOf, money, ourId, timeInQuery, usd } from '#api/fields/fields.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { listOf, pageOf, pageQuery, pageReply } from '#api/lists/lists.ts';
import { direction, nullableText, workId, workKind } from '#api/money/wallet-transactions.ts';
import { requireFound } from '#api/problems/problem.ts';
import { findReconciliation, listReconciliations, type ReconciliationRow } from '#db/money/reconciliations.ts';
import { type CurrencySums, FINDING_KINDS, RECONCILIATION_STATUSES } from '#domain/money/books.ts';
import { plainAmount, plainMoney } from '#domain/money/money.ts';

const count = z.int().nonnegative();

const summary = {
  id: ourId('reconciliation'),
  status: z.enum(RECONCILIATION_STATUSES).meta({
    description:
      '`incomplete`: the wallet has more than could be read; `unsupported`: the service shows no movements; ' +
      '`unavailable`: it did not answer.',
  }),
  detail: z.string(),
  created_at: instant.meta({ description: 'When it began.' }),
  finished_at: instant,
  read_since: instant.meta({ description: 'Movements since this time were read.' }),
  balance: money.nullable().meta({ description: 'Balance of the wallet at the service.' }),
  expected_balance: money
    .nullable()
    .meta({ description: 'The sum of its movements; null when it cannot be computed.' }),
  counts: z.strictObject({
    read: count,
    new: count,
    matched: count,
    booked: count,
    pending: count,
    unmatched: count,
    outstanding: count,
    findings: count,
  }),
  sums: z
    .array(
      z.strictObject({
        debits: money,
        credits: money,
        journal: money.meta({ description: 'Credits less debits of our journal.' }),
        outstanding: money.meta({ description: 'The part that the service has not shown yet.' }),
        unmatched: money.meta({ description: 'Movements that the service has shown and our journal lacks.' }),
      }),
    )
    .meta({ description: 'One entry for each currency.' }),
  finding_counts: z.record(z.string(), count).meta({ description: 'Number of findings of each kind.' }),
};

const finding = z
  .strictObject({
    kind: enumOf(FINDING_KINDS).meta({ description: meaningsOf(FINDING_KINDS) }),
    meaning: z.string(),
    detail: z.string(),
    service_transaction_id: nullableText.meta({
      description: 'The service’s id of the movement, if the finding is about one.',
    }),
    subject_kind: workKind,
    subject_id: workId,
    direction: direction.nullable(),
    amount: money.nullable(),
  })
  .meta({
    id: 'ReconciliationFinding',
    example: {
      kind: 'orphan_movement',
      meaning: FINDING_KINDS.orphan_movement,
      detail: 'A debit of 2.40 USD has no cause in our journal.',
      service_transaction_id: 'wt_7',
      subject_id: null,
      direction: 'debit',
      amount: usd('2.40'),
    },
  });

const example = {
  detail: 'All movements were read.',
  finished_at: '2030-01-31T12:00:01.000Z',
  read_since: '2030-01-31T09:45:00.000Z',
  balance: usd('97.60'),
  expected_balance: usd('97.60'),
  counts: { read: 3, new: 1, matched: 1, booked: 0, pending: 0, unmatched: 1, outstanding: 0, findings: 1 },
  sums: [
    {
      debits: usd('2.40'),
      credits: usd('102.40'),
      journal: usd('100.00'),
      outstanding: usd('0.00'),
      unmatched: usd('-2.40'),
    },
  ],
  finding_counts: { orphan_movement: 1 },
};

const reconciliationSummary = z.strictObject(summary).meta({ id: 'ReconciliationSummary', example });

const reconciliationPage = pageOf(reconciliationSummary, 'ReconciliationPage');

export const reconciliation = z
  .strictObject({ ...summary, findings: z.array(finding).meta({ description: 'The first 200, the worst first.' }) })
  .meta({ id: 'Reconciliation', example });

function reconciliationSummaryJson(row: ReconciliationRow): z.input<typeof reconciliationSummary> {
  return {
    id: row.id,
    status: row.status,
    detail: row.detail,
    created_at: row.startedAt.toISOString(),
    finished_at: row.finishedAt.toISOString(),
    read_since: row.readSince.toISOString(),
    balance: plainMoney(row.balance, row.balanceCurrency),
    expected_balance: plainMoney(row.expectedBalance, row.balanceCurrency),
    counts: row.counts,
    sums: row.sums.map(sumsJson),
    finding_counts: row.findingCounts,
  };
}

function sumsJson({ currency, debits, credits, journal, outstanding, unmatched }: CurrencySums) {
  const amountOf = (amount: string) => ({ amount, currency });
  return {
    debits: amountOf(debits),
    credits: amountOf(credits),
    journal: amountOf(journal),
    outstanding: amountOf(outstanding),
    unmatched: amountOf(unmatched),
  };
}

export function reconciliationJson(row: ReconciliationRow): z.input<typeof reconciliation> {
  return {
    ...reconciliationSummaryJson(row),
    findings: row.findings.map(({ kind, detail, movementId, work, direction: way, money: moved }) => ({
      kind,
      meaning: FINDING_KINDS[kind],
      detail,
      service_transaction_id: movementId ?? null,
      subject_kind: work?.kind ?? null,
      subject_id: work?.id ?? null,
      direction: way ?? null,
      amount: moved === undefined ? null : { amount: plainAmount(moved.amount), currency: moved.currency },
    })),
  };
}

export function reconciliationOperations({ database }: ApiDependencies): Operation[] {
  return [
    operation('GET /v1/wallet/reconciliations', {
      id: 'listReconciliations',
      summary: 'List comparisons of our books with the wallet, newest first',
      scope: 'wallet:read',
      query: z.strictObject({
        status: listOf(RECONCILIATION_STATUSES)
          .optional()
          .meta({ description: 'One status, or several, separated by commas.' }),
        created_after: timeInQuery('Later than this.'),
        created_before: timeInQuery('Earlier than this.'),
        ...pageQuery,
      }),
      answers: { 200: jsonAnswer('A page of reports, without their findings.', reconciliationPage) },
      handle: async ({ query }) => {
        const { status, created_after: startedAfter, created_before: startedBefore } = query;
        const filter = { status, startedAfter, startedBefore };
        return pageReply(
          query,
          CURSORS.reconciliation,
          (at) => database.run((db) => listReconciliations(db, filter, at)),
          reconciliationSummaryJson,
        );
      },
    }),
    operation('GET /v1/wallet/reconciliations/{id}', {
      id: 'getReconciliation',
      summary: 'Read a comparison of our books with the wallet',
      scope: 'wallet:read',
      params: idInPath('reconciliation'),
      answers: { 200: jsonAnswer('The report.', reconciliation) },
      handle: async ({ params: { id } }) => {
        const found = await database.run((db) => findReconciliation(db, id));
        return jsonReply(200, reconciliationJson(requireFound(found, 'reconciliation_not_found')));
      },
    }),
  ];
}
