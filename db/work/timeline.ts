import { and, eq, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { insertRow } from '#db/connection/prepared-statements.ts';
import { timeline } from '#db/schema.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

export type Subject = WorkRef | { readonly kind: 'delivery'; readonly id: string };

export interface TimelineEntry {
  readonly event: string;
  /** A sentence; never personal data. */
  readonly message: string;
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
  /** An entry with the same key and subject is written once, so that an activity may run twice. */
  readonly dedupKey?: string;
  readonly at?: Date;
}

/**
 * Adds nothing when one of the last three entries says the same: tries and waits may repeat for days. What a person
 * judges by is told each time.
 */
export async function addUnrepeatedEntry(db: Executor, { kind, id }: Subject, entry: TimelineEntry): Promise<void> {
  const { event, message, detail = {}, dedupKey = null, at } = entry;
  const maySkip = !event.endsWith('.needs_attention') && event !== 'attempt.unknown';
  // Without the sum PostgreSQL would read the table backwards in search of this subject.
  await db.execute(sql`with last as (
      select event, message from ${timeline} where subject_kind = ${kind} and subject_id = ${id}
      order by id + 0 desc limit 3)
    insert into ${timeline} (subject_kind, subject_id, event, message, detail, dedup_key, at)
    select ${kind}, ${id}, ${event}, ${message}, ${JSON.stringify(detail)}::jsonb, ${dedupKey},
      coalesce(${at?.toISOString() ?? null}::timestamptz, now())
    where not exists (select from last where ${maySkip} and last.event = ${event} and last.message = ${message}
      and not exists (select from last where last.event like 'operator.%'))
    on conflict do nothing`);
}

export async function addTimelineEntries(
  db: Executor,
  entries: readonly { readonly subject: Subject; readonly entry: TimelineEntry }[],
): Promise<void> {
  const rows = entries.map(({ subject, entry }) => ({ subjectKind: subject.kind, subjectId: subject.id, ...entry }));
  await db.insert(timeline).values(rows).onConflictDoNothing();
}

export async function addTimelineEntry(db: Executor, { kind, id }: Subject, entry: TimelineEntry): Promise<void> {
  await insertRow(db, timeline, { subjectKind: kind, subjectId: id, ...entry }, { once: true });
}

export async function hasTimelineEntry(db: Executor, subject: Subject, dedupKey: string): Promise<boolean> {
  const isOfSubject = and(eq(timeline.subjectKind, subject.kind), eq(timeline.subjectId, subject.id));
  const [known] = await db
    .select({ id: timeline.id })
    .from(timeline)
    .where(and(isOfSubject, eq(timeline.dedupKey, dedupKey)))
    .limit(1);
  return known !== undefined;
}
