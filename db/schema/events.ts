/** Events for internal systems. */
import { sql } from 'drizzle-orm';
import { bigint, bigserial, index, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant } from '#db/schema/columns.ts';
import type { EventSubjectKind, EventType } from '#domain/events/event-types.ts';

/** Data of an event: short, plain, without personal data. */
export type EventData = Readonly<
  Record<string, string | number | boolean | null | { readonly amount: string; readonly currency: string }>
>;

/**
 * Events, written in the transaction that causes them. A sequence number is assigned before the commit, so a reader
 * that follows it may skip an event that is committed later. Therefore the relay assigns each committed event its
 * position, one publication at a time; events without a position are not visible.
 */
export const events = pgTable(
  'events',
  {
    sequence: bigserial('sequence', { mode: 'bigint' }).primaryKey(),
    id: text('id').notNull().unique(),
    /** Position in the feed, without gaps; null until published. */
    position: bigint('position', { mode: 'bigint' }),
    type: text('type').$type<EventType>().notNull(),
    subjectKind: text('subject_kind').$type<EventSubjectKind>().notNull(),
    subjectId: text('subject_id').notNull(),
    /** The API key of the work; null for the whole account. */
    apiKeyId: text('api_key_id'),
    data: jsonb('data').$type<EventData>().notNull(),
    occurredAt: instant('occurred_at').notNull(),
    /** `traceparent` of the work that it is about; null: none, or not traced. */
    traceparent: text('traceparent'),
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

/** Announcements that happen once for a subject; kept longer than their events. */
export const announcements = pgTable(
  'announcements',
  {
    subjectId: text('subject_id').notNull(),
    key: text('key').notNull(),
    announcedAt: instant('announced_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.subjectId, table.key] })],
);
