import { and, eq, sql } from 'drizzle-orm';
import type { Write } from '#db/connection/alongside.ts';
import { builtOnce } from '#db/connection/built-once.ts';
import type { Executor } from '#db/connection/database.ts';
import { timeline } from '#db/schema.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

/** The subject of a timeline entry or case. */
export type Subject = WorkRef | { readonly kind: 'delivery'; readonly id: string };

export interface TimelineEntry {
  /** Stable name, such as `attempt.sent`. */
  readonly event: string;
  /** A sentence for the reader; never personal data. */
  readonly message: string;
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
  /** An entry with the same key and subject is written once, so that an activity may run twice. */
  readonly dedupKey?: string;
  /** Time of the entry; absent: now. */
  readonly at?: Date;
}

/** Inserts an entry. Placeholders: those of {@link entryValues}. */
export function entryInsert(db: Executor) {
  return db
    .insert(timeline)
    .values({
      subjectKind: sql.placeholder('subjectKind'),
      subjectId: sql.placeholder('subjectId'),
      event: sql.placeholder('event'),
      message: sql.placeholder('message'),
      detail: sql.placeholder('detail'),
      dedupKey: sql.placeholder('dedupKey'),
      at: sql`coalesce(${sql.placeholder('at')}::timestamptz, now())`,
    })
    .onConflictDoNothing();
}

const insertEntry = builtOnce((db) => entryInsert(db).prepare('timeline_entry'));

/**
 * Adds an entry to the timeline of a subject, as part of another statement, unless one of the last three says the same:
 * a try, its wait and a closed gate may repeat for days. `current_state` of the API tells the present one. What a
 * person judges by is told each time: a case that opens again, and a send without a known result.
 */
export function timelineEntry({ kind, id }: Subject, entry: TimelineEntry): Write {
  const { event, message, detail = {}, dedupKey = null, at } = entry;
  const maySkip = !event.endsWith('.needs_attention') && event !== 'attempt.unknown';
  // The sum keeps PostgreSQL from reading the table backwards by its ids in search of this subject.
  const statement = sql`with last as (
      select event, message from ${timeline} where subject_kind = ${kind} and subject_id = ${id}
      order by id + 0 desc limit 3)
    insert into ${timeline} (subject_kind, subject_id, event, message, detail, dedup_key, at)
    select ${kind}, ${id}, ${event}, ${message}, ${JSON.stringify(detail)}::jsonb, ${dedupKey},
      coalesce(${at?.toISOString() ?? null}::timestamptz, now())
    where not exists (select from last where ${maySkip} and last.event = ${event} and last.message = ${message}
      and not exists (select from last where last.event like 'operator.%'))
    on conflict do nothing`;
  return { statement };
}

/** The values of {@link entryInsert}. */
export function entryValues(subject: Subject, entry: TimelineEntry) {
  return {
    subjectKind: subject.kind,
    subjectId: subject.id,
    event: entry.event,
    message: entry.message,
    detail: entry.detail ?? {},
    dedupKey: entry.dedupKey ?? null,
    at: entry.at ?? null,
  };
}

/** Adds an entry to each of many timelines, in one statement. */
export async function addTimelineEntries(
  db: Executor,
  entries: readonly { readonly subject: Subject; readonly entry: TimelineEntry & { readonly at: Date } }[],
): Promise<void> {
  const rows = entries.map(({ subject, entry }) => ({ ...entryValues(subject, entry), at: entry.at }));
  await db.insert(timeline).values(rows).onConflictDoNothing();
}

/** Adds an entry to the timeline of a subject. */
export async function addTimelineEntry(db: Executor, subject: Subject, entry: TimelineEntry): Promise<void> {
  await insertEntry(db, entryValues(subject, entry));
}

/** True when the timeline has an entry with this key. */
export async function hasTimelineEntry(db: Executor, subject: Subject, dedupKey: string): Promise<boolean> {
  const isOfSubject = and(eq(timeline.subjectKind, subject.kind), eq(timeline.subjectId, subject.id));
  const [known] = await db
    .select({ id: timeline.id })
    .from(timeline)
    .where(and(isOfSubject, eq(timeline.dedupKey, dedupKey)))
    .limit(1);
  return known !== undefined;
}
