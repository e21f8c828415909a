import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { amount, inList, instant } from '#db/schema/columns.ts';
import {
  CAUSE_KINDS,
  DIRECTIONS,
  RECONCILIATION_STATUSES,
  type CauseKind,
  type CurrencySums,
  type Direction,
  type JournalSum,
  type FindingKind,
  type ReconciliationCounts,
  type ReconciliationStatus,
} from '#domain/money/books.ts';
import type { Finding } from '#domain/money/findings.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/** Append-only (by a trigger). One row for each cause and direction. */
export const journal = pgTable(
  'journal',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    direction: text('direction').$type<Direction>().notNull(),
    amount: amount('amount').notNull(),
    currency: text('currency').notNull(),
    causeKind: text('cause_kind').$type<CauseKind>().notNull(),
    causeId: text('cause_id').notNull(),
    recordedAt: instant('recorded_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('journal_one_per_cause').on(table.causeKind, table.causeId, table.direction),
    check('journal_positive', sql`${table.amount} >= 0`),
    check('journal_direction', sql`${table.direction} in (${inList(DIRECTIONS)})`),
    check('journal_cause_kind', sql`${table.causeKind} in (${inList(CAUSE_KINDS)})`),
    index('journal_recorded_at').on(table.recordedAt),
    index('journal_credits')
      .on(table.id)
      .where(sql`${table.direction} = 'credit'`),
  ],
);

/** One row, so that a comparison of the books reads no row twice (`db/money/journal.ts`). */
export const journalCheckpoint = pgTable(
  'journal_checkpoint',
  {
    singleton: boolean('singleton').primaryKey().default(true),
    through: instant('through').notNull(),
    sums: jsonb('sums').$type<readonly JournalSum[]>().notNull(),
  },
  (table) => [check('journal_checkpoint_one_row', sql`${table.singleton}`)],
);

/** Rows from before the checkpoint, without a movement of the wallet. */
export const journalOutstanding = pgTable('journal_outstanding', {
  journalId: bigint('journal_id', { mode: 'bigint' })
    .primaryKey()
    .references(() => journal.id),
});

export const walletMovements = pgTable(
  'wallet_movements',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    serviceId: text('service_id').notNull().unique(),
    direction: text('direction').$type<Direction>().notNull(),
    amount: amount('amount').notNull(),
    currency: text('currency').notNull(),
    reason: text('reason').notNull(),
    occurredAt: instant('occurred_at').notNull(),
    readAt: instant('read_at').notNull(),
    orderId: text('order_id'),
    orderReference: text('order_reference'),
    topupId: text('topup_id'),
    subscriptionId: text('subscription_id'),
    subscriptionReference: text('subscription_reference'),
    esimId: text('esim_id'),
    refundId: text('refund_id'),
    /** With the direction it identifies the journal row. */
    causeKind: text('cause_kind').$type<CauseKind>(),
    causeId: text('cause_id'),
    attemptId: text('attempt_id'),
    /** Null: before readings were numbered. */
    firstReading: bigint('first_reading', { mode: 'number' }),
  },
  (table) => [
    index('wallet_movements_first_reading').on(table.firstReading),
    uniqueIndex('wallet_movements_one_per_cause').on(table.causeKind, table.causeId, table.direction),
    check('wallet_movements_positive', sql`${table.amount} >= 0`),
    check('wallet_movements_direction', sql`${table.direction} in (${inList(DIRECTIONS)})`),
    check('wallet_movements_cause', sql`(${table.causeKind} is null) = (${table.causeId} is null)`),
    index('wallet_movements_attempt').on(table.attemptId),
    index('wallet_movements_read').on(table.readAt),
    ...[
      table.orderId,
      table.orderReference,
      table.topupId,
      table.subscriptionId,
      table.subscriptionReference,
      table.esimId,
    ].map((name) =>
      index(`wallet_movements_${name.name}`)
        .on(name)
        .where(sql`${name} is not null`),
    ),
    index('wallet_movements_without_cause')
      .on(table.occurredAt)
      .where(sql`${table.causeKind} is null`),
  ],
);

export const walletReadings = pgTable('wallet_readings', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  beganAt: instant('began_at').notNull(),
  storedAt: instant('stored_at').notNull().defaultNow(),
  /** Null: it changed during the reading, or was not read. */
  balanceAmount: amount('balance_amount'),
  balanceCurrency: text('balance_currency'),
  isWhole: boolean('is_whole').notNull(),
  reachesBackTo: bigint('reaches_back_to', { mode: 'number' }),
  /** The newest row, also where it is older than our books. */
  newestRow: text('newest_row'),
  newestRowAt: instant('newest_row_at'),
  newRows: integer('new_rows').notNull(),
});

/** The time between a purchase and its debit, by kind (`domain/money/absence.ts`). */
export const debitDelays = pgTable('debit_delays', {
  kind: text('kind').$type<WorkKind>().primaryKey(),
  longestMs: bigint('longest_ms', { mode: 'number' }),
  withinMs: bigint('within_ms', { mode: 'number' }),
  seenAt: instant('seen_at').notNull(),
});

export const reconciliations = pgTable(
  'reconciliations',
  {
    id: text('id').primaryKey(),
    /** A step that runs twice makes one row. */
    runId: text('run_id').notNull().unique(),
    status: text('status').$type<ReconciliationStatus>().notNull(),
    detail: text('detail').notNull(),
    startedAt: instant('started_at').notNull(),
    finishedAt: instant('finished_at').notNull(),
    readSince: instant('read_since').notNull(),
    /** The oldest pending credit: the next comparison reads from there. */
    pendingSince: instant('pending_since'),
    balance: amount('balance'),
    balanceCurrency: text('balance_currency'),
    expectedBalance: amount('expected_balance'),
    counts: jsonb('counts').$type<ReconciliationCounts>().notNull(),
    sums: jsonb('sums').$type<readonly CurrencySums[]>().notNull(),
    /** Only the first findings; `counts` has their number. */
    findings: jsonb('findings').$type<readonly Finding[]>().notNull(),
    findingCounts: jsonb('finding_counts').$type<Readonly<Partial<Record<FindingKind, number>>>>().notNull(),
  },
  (table) => [
    check('reconciliations_status', sql`${table.status} in (${inList(RECONCILIATION_STATUSES)})`),
    index('reconciliations_newest').on(table.startedAt.desc(), table.id.desc()),
  ],
);
