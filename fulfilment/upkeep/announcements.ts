/** Announcements: events that happen once for a subject and a key. */
import type { Executor } from '#db/connection/database.ts';
import { recordEvent, type NewEvent } from '#db/events/event-log.ts';
import { announcements } from '#db/schema.ts';

/** An announcement. The same key for the same subject is announced once. */
export interface DueAnnouncement {
  readonly event: NewEvent;
  readonly key: string;
}

/**
 * Announces what was not announced before. Announcements are remembered longer than their events are kept.
 * @returns how many.
 */
export async function announceNew(tx: Executor, due: readonly DueAnnouncement[], now: Date): Promise<number> {
  if (due.length === 0) return 0;
  const fresh = await tx
    .insert(announcements)
    .values(due.map(({ event, key }) => ({ subjectId: event.subject.id, key, announcedAt: now })))
    .onConflictDoNothing()
    .returning({ subjectId: announcements.subjectId, key: announcements.key });
  for (const { event, key } of due) {
    if (fresh.some((row) => row.subjectId === event.subject.id && row.key === key)) await recordEvent(tx, event, now);
  }
  return fresh.length;
}
