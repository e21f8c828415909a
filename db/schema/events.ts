/** What is announced to internal systems. */
import { sql } from 'drizzle-orm';
import { bigint, bigserial, index, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant } from '#db/schema/columns.ts';
import type { EventSubjectKind, EventType } from '#domain/events/events.ts';

/** The facts of an event: short, plain, nothing personal. */
export type EventData = Readonly<
  Record<string, string | number | boolean | null | { readonly amount: string; readonly currency: string }>
>;

/**
 * Events, written in the transaction of what they tell. A sequence number is handed out before the commit, so that a
 * reader who goes by it can pass one that is committed later. So the relay gives each committed event its position, one
 * publication at a time; what has none yet is nobody's to read.
 */
export const events = pgTable(
  'events',
  {
    sequence: bigserial('sequence', { mode: 'bigint' }).primaryKey(),
    id: text('id').notNull().unique(),
    /** In the order of the feed, without gaps; null until it is published. */
    position: bigint('position', { mode: 'bigint' }),
    type: text('type').$type<EventType>().notNull(),
    subjectKind: text('subject_kind').$type<EventSubjectKind>().notNull(),
    subjectId: text('subject_id').notNull(),
    /** The key whose work it tells of; null where it is about the whole account. */
    apiKeyId: text('api_key_id'),
    data: jsonb('data').$type<EventData>().notNull(),
    occurredAt: instant('occurred_at').notNull(),
  },
  (table) => [
    uniqueIndex('events_position').on(table.position),
    index('events_unpublished')
      .on(table.sequence)
      .where(sql`${table.position} is null`),
    index('events_subject').on(table.subjectId, table.sequence),
    index('events_type').on(table.type, table.position),
    index('events_owner_type').on(table.apiKeyId, table.type, table.position),
    index('events_occurred').on(table.occurredAt, table.position),
  ],
);

/** What is announced of a subject once only: known for longer than its event is kept. */
export const announcements = pgTable(
  'announcements',
  {
    subjectId: text('subject_id').notNull(),
    key: text('key').notNull(),
    announcedAt: instant('announced_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.subjectId, table.key] })],
);
