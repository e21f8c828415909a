import { desc, isNull, isNotNull, sql } from 'drizzle-orm';
import * as z from 'zod';
import { noteFilled } from '#db/connection/after-commit.ts';
import type { Write } from '#db/connection/alongside.ts';
import { builtOnce } from '#db/connection/built-once.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { events } from '#db/schema.ts';
import type { EventData } from '#db/schema/events.ts';
import type { EventSubject, EventSubjectKind, EventType } from '#domain/events/event-types.ts';

export type StoredEvent = typeof events.$inferSelect;

export type EventRow = Omit<StoredEvent, 'traceparent'>;

export type PublishedEvent = EventRow & { readonly position: bigint };

export interface NewEvent {
  readonly type: EventType;
  readonly subject: EventSubject;
  readonly apiKeyId: string | null;
  /** No personal data and no secret: stored in plain text and sent to others. */
  readonly data: EventData;
  readonly traceparent?: string | null;
}

export function eventInsert(db: Pick<Executor, 'insert'>) {
  return db.insert(events).values({
    id: sql.placeholder('eventId'),
    type: sql.placeholder('type'),
    subjectKind: sql.placeholder('subjectKind'),
    subjectId: sql.placeholder('subjectId'),
    apiKeyId: sql.placeholder('apiKeyId'),
    data: sql.placeholder('data'),
    occurredAt: sql.placeholder('occurredAt'),
    traceparent: sql.placeholder('traceparent'),
  });
}

const insertEvent = builtOnce((db) => eventInsert(db).prepare('event'));

export function eventValues({ type, subject, apiKeyId, data, traceparent = null }: NewEvent, occurredAt: Date) {
  const eventId = newId('event');
  return { eventId, type, subjectKind: subject.kind, subjectId: subject.id, apiKeyId, data, occurredAt, traceparent };
}

export async function recordEvent(tx: Executor, event: NewEvent, now: Date): Promise<string> {
  const values = eventValues(event, now);
  await insertEvent(tx, values);
  noteFilled(tx, 'events');
  return values.eventId;
}

export async function recordEvents(tx: Executor, added: readonly NewEvent[], now: Date): Promise<void> {
  const rows = added.map((event) => {
    const { eventId, ...values } = eventValues(event, now);
    return { id: eventId, ...values };
  });
  await tx.insert(events).values(rows);
  noteFilled(tx, 'events');
}

/**
 * Nothing is recorded when the last status event has the same type and the same fields named in `reasons`, nor a second
 * event of a type that is announced once.
 */
export function recordingStatusEvent(
  { type, subject, apiKeyId, data, traceparent = null }: NewEvent,
  reasons: readonly string[],
  now: Date,
  { isOnce = false } = {},
): Write {
  const again = sql`select from ${events} where subject_id = ${subject.id} and type = ${type}`;
  const statement = sql`with new as (select ${JSON.stringify(data)}::jsonb as data)
    insert into ${events} (id, type, subject_kind, subject_id, api_key_id, data, occurred_at, traceparent)
    select ${newId('event')}, ${type}, ${subject.kind}, ${subject.id}, ${apiKeyId},
      new.data || jsonb_build_object('previous_status', last.data -> 'status'), ${now.toISOString()}::timestamptz,
      ${traceparent}
    from new left join lateral (
      select type, data from ${events} where subject_id = ${subject.id} and data ? 'status'
      order by sequence desc limit 1) as last on true
    where ${
      isOnce
        ? sql`not exists (${again})`
        : sql`(last.type is distinct from ${type} or exists (
      select from jsonb_array_elements_text(${JSON.stringify(reasons)}::jsonb) as reason
      where last.data -> reason is distinct from new.data -> reason))`
    }
    returning id`;
  return { statement, fills: 'events' };
}

export const unpublished = isNull(events.position);

/** Waits for a present publication; blocks others until the end of the transaction. */
export async function holdPublication(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('events.publication'))`);
}

/**
 * Assigns positions and notifies readers. Positions have no gaps, and none becomes visible after a higher one. Waits
 * for a process that publishes now: it may have read before the caller's event was committed, and nothing else would
 * publish that event.
 * @returns the events in order; none when the other process has published all of them.
 */
export async function publishEvents(db: Executor, batch: number): Promise<PublishedEvent[]> {
  return (await publish(db, batch, { unlessReceived: false })).events;
}

/** Publishes nothing while an endpoint may receive events: its deliveries must be queued in the same transaction. */
export async function publishUnlessReceived(
  db: Executor,
  batch: number,
): Promise<{ readonly isReceived: boolean; readonly events: PublishedEvent[] }> {
  return publish(db, batch, { unlessReceived: true });
}

const publishedRows = z.array(
  z.object({
    isReceived: z.boolean(),
    event: z
      .object({
        sequence: z.coerce.bigint(),
        id: z.string(),
        position: z.coerce.bigint(),
        type: z.custom<EventType>(),
        subjectKind: z.custom<EventSubjectKind>(),
        subjectId: z.string(),
        apiKeyId: z.string().nullable(),
        data: z.custom<EventData>(),
        occurredAt: z.coerce.date(),
      })
      .nullable(),
  }),
);

/** A function of the database locks, publishes and notifies. */
async function publish(
  db: Executor,
  batch: number,
  { unlessReceived }: { readonly unlessReceived: boolean },
): Promise<{ isReceived: boolean; events: PublishedEvent[] }> {
  const answer = await db.execute(
    sql`select is_received as "isReceived", event from publish_events(${batch}, ${unlessReceived})`,
  );
  const rows = publishedRows.parse(answer.rows);
  return {
    isReceived: rows.some((row) => row.isReceived),
    events: rows.flatMap(({ event }) => event ?? []),
  };
}

export async function lastPosition(db: Executor): Promise<bigint> {
  const [newest] = await db
    .select({ position: events.position })
    .from(events)
    .where(isNotNull(events.position))
    .orderBy(desc(events.position))
    .limit(1);
  return newest?.position ?? 0n;
}

export function isPublished<Row extends EventRow>(row: Row): row is Row & PublishedEvent {
  return row.position !== null;
}
