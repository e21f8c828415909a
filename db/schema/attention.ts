/** Timelines, and cases that wait for a person. */
import { sql } from 'drizzle-orm';
import { bigserial, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant } from '#db/schema/columns.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/** Timeline entries in order. */
export const timeline = pgTable(
  'timeline',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    subjectKind: text('subject_kind').notNull(),
    subjectId: text('subject_id').notNull(),
    at: instant('at').notNull().defaultNow(),
    /** Stable name: `order.accepted`, `attempt.sent`, … */
    event: text('event').notNull(),
    /** A sentence; never personal data. */
    message: text('message').notNull(),
    detail: jsonb('detail').$type<Record<string, string | number | boolean | null>>().notNull().default({}),
    /** Makes an activity that runs twice write one entry. */
    dedupKey: text('dedup_key'),
  },
  (table) => [
    // Also finds the timeline of a subject, which is short: an index in its order would be one more entry a row.
    uniqueIndex('timeline_dedup').on(table.subjectKind, table.subjectId, table.dedupKey),
  ],
);

/** Cases. At most one open case for each subject and reason, and for each product and reason. */
export const cases = pgTable(
  'cases',
  {
    id: text('id').primaryKey(),
    subjectKind: text('subject_kind').$type<WorkKind | 'delivery'>().notNull(),
    subjectId: text('subject_id').notNull(),
    reason: text('reason').$type<AttentionReason>().notNull(),
    /** The attempt of the case; null: none in particular. */
    attemptId: text('attempt_id'),
    /** The package or plan that the case is about; null: the case is about its work alone. */
    product: integer('product'),
    detail: text('detail').notNull(),
    openedAt: instant('opened_at').notNull().defaultNow(),
    closedAt: instant('closed_at'),
    resolution: text('resolution'),
  },
  (table) => [
    uniqueIndex('cases_one_open')
      .on(table.subjectKind, table.subjectId, table.reason)
      .where(sql`${table.closedAt} is null`),
    uniqueIndex('cases_one_open_of_product')
      .on(table.subjectKind, table.product, table.reason)
      .where(sql`${table.closedAt} is null and ${table.product} is not null`),
    index('cases_open')
      .on(table.openedAt)
      .where(sql`${table.closedAt} is null`),
  ],
);
