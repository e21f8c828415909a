/** Recording and publishing events. */
import { and, asc, desc, eq, isNull, isNotNull, sql } from 'drizzle-orm';
import { noteFilled } from '#db/connection/after-commit.ts';
import { builtOnce } from '#db/connection/built-once.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { events } from '#db/schema.ts';
import type { EventData } from '#db/schema/events.ts';
import type { EventSubject, EventType } from '#domain/events/event-types.ts';

export type EventRow = typeof events.$inferSelect;

/** An event with a position in the feed. */
export type PublishedEvent = EventRow & { readonly position: bigint };

export interface NewEvent {
  readonly type: EventType;
  readonly subject: EventSubject;
  /** The API key of the work; null for events of the whole account. */
  readonly apiKeyId: string | null;
  /** No personal data and no secret: it is stored in plain text and sent to others. */
  readonly data: EventData;
}

/** Inserts an event. Placeholders: those of {@link eventValues}. */
export function eventInsert(db: Pick<Executor, 'insert'>) {
  return db.insert(events).values({
    id: sql.placeholder('eventId'),
    type: sql.placeholder('type'),
    subjectKind: sql.placeholder('subjectKind'),
    subjectId: sql.placeholder('subjectId'),
    apiKeyId: sql.placeholder('apiKeyId'),
    data: sql.placeholder('data'),
    occurredAt: sql.placeholder('occurredAt'),
  });
}

const insertEvent = builtOnce((db) => eventInsert(db).prepare('event'));

/** The values of {@link eventInsert}, with a new id. */
export function eventValues({ type, subject, apiKeyId, data }: NewEvent, occurredAt: Date) {
  const eventId = newId('event');
  return { eventId, type, subjectKind: subject.kind, subjectId: subject.id, apiKeyId, data, occurredAt };
}

/** Records an event in the transaction that causes it. @returns its id. */
export async function recordEvent(tx: Executor, event: NewEvent, now: Date): Promise<string> {
  const values = eventValues(event, now);
  await insertEvent(tx, values);
  noteFilled(tx, 'events');
  return values.eventId;
}

/** The last status event of a subject; announcements such as an approaching end are no status events. */
export async function latestStatusEvent(db: Executor, { id }: EventSubject): Promise<EventRow | undefined> {
  const [row] = await db
    .select(eventColumns)
    .from(events)
    .where(and(eq(events.subjectId, id), sql`${events.data} ? 'status'`))
    .orderBy(desc(events.sequence))
    .limit(1);
  return row;
}

/** Condition on `events`: not published yet. */
export const unpublished = isNull(events.position);

/** Advisory lock of publication: one transaction at a time assigns positions. */
const PUBLICATION_LOCK = sql`hashtext('events.publication')`;

/** Blocks other publications until the end of the transaction; waits for a present one. */
export async function holdPublication(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${PUBLICATION_LOCK})`);
}

/**
 * Assigns positions to the oldest events without one, in the caller's transaction. Positions have no gaps, and none
 * becomes visible after a higher one.
 *
 * Waits for a process that publishes now: it may have read before the caller's event was committed, and nothing else
 * would publish that event.
 *
 * @returns the events in order; none when the other process has published all of them.
 */
export async function publishEvents(tx: Executor, batch: number): Promise<PublishedEvent[]> {
  await holdPublication(tx);
  const waiting = await tx
    .select({ sequence: events.sequence })
    .from(events)
    .where(isNull(events.position))
    .orderBy(asc(events.sequence))
    .limit(batch);
  if (waiting.length === 0) return [];
  const last = await lastPosition(tx);
  const places = sql.join(
    waiting.map(({ sequence }, index) => sql`(${sequence}::bigint, ${last + BigInt(index + 1)}::bigint)`),
    sql`, `,
  );
  const published = await tx
    .update(events)
    .set({ position: sql`places.position` })
    .from(sql`(values ${places}) as places (sequence, position)`)
    .where(and(eq(events.sequence, sql`places.sequence`), isNull(events.position)))
    .returning(eventColumns);
  return published.filter(isPublished).toSorted((left, right) => (left.position < right.position ? -1 : 1));
}

/** The position of the newest published event; 0 before the first. */
export async function lastPosition(db: Executor): Promise<bigint> {
  const [newest] = await db
    .select({ position: events.position })
    .from(events)
    .where(isNotNull(events.position))
    .orderBy(desc(events.position))
    .limit(1);
  return newest?.position ?? 0n;
}

/** True when the event is published. */
export function isPublished(row: EventRow): row is PublishedEvent {
  return row.position !== null;
}

const eventColumns = {
  sequence: events.sequence,
  id: events.id,
  position: events.position,
  type: events.type,
  subjectKind: events.subjectKind,
  subjectId: events.subjectId,
  apiKeyId: events.apiKeyId,
  data: events.data,
  occurredAt: events.occurredAt,
};
