import type { WorkRef } from '#domain/work.ts';
import type { Executor } from '#db/database.ts';
import { timeline } from '#db/schema.ts';

/** What a timeline or case speaks of. */
export type Subject = WorkRef | { readonly kind: 'delivery'; readonly id: string };

export interface TimelineEntry {
  /** Stable name, such as `attempt.sent`. */
  readonly event: string;
  /** A sentence for the reader; never personal data. */
  readonly message: string;
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
  /** The same key for the same subject is written once, so that an activity may run twice. */
  readonly dedupKey?: string;
  /** When it happened, if not now. */
  readonly at?: Date;
}

/** Adds an entry to the timeline of a subject. */
export async function addTimelineEntry(db: Executor, subject: Subject, entry: TimelineEntry): Promise<void> {
  await db
    .insert(timeline)
    .values({
      subjectKind: subject.kind,
      subjectId: subject.id,
      event: entry.event,
      message: entry.message,
      detail: entry.detail ?? {},
      dedupKey: entry.dedupKey ?? null,
      ...(entry.at === undefined ? {} : { at: entry.at }),
    })
    .onConflictDoNothing();
}
