/** Our books, to compare with the wallet at the service. */
import { sql } from 'drizzle-orm';
import { bigint, check, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { amount, instant } from '#db/schema/columns.ts';

/** Our books: append-only (a trigger refuses updates and deletes), one row per movement of the service's wallet. */
export const journal = pgTable(
  'journal',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    direction: text('direction').$type<'debit' | 'credit'>().notNull(),
    amount: amount('amount').notNull(),
    currency: text('currency').notNull(),
    causeKind: text('cause_kind').$type<'attempt' | 'refund'>().notNull(),
    causeId: text('cause_id').notNull(),
    recordedAt: instant('recorded_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('journal_one_per_cause').on(table.causeKind, table.causeId, table.direction),
    check('journal_positive', sql`${table.amount} >= 0`),
    check('journal_direction', sql`${table.direction} in ('debit', 'credit')`),
  ],
);
