import { desc, getTableColumns, isNull, isNotNull, sql } from 'drizzle-orm';
import { noteRowsAdded } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { insertRow } from '#db/connection/prepared-statements.ts';
import { events } from '#db/schema.ts';
import type { EventData } from '#db/schema/events.ts';
import type { EventSubject, EventType } from '#domain/events/event-types.ts';

export type EventRow = typeof events.$inferSelect;

export type PublishedEvent = EventRow & { readonly position: bigint };

export interface NewEvent {
  readonly type: EventType;
  readonly subject: EventSubject;
  readonly apiKeyId: string | null;
  /** No personal data and no secret: stored in plain text and sent to others. */
  readonly data: EventData;
  readonly traceparent?: string | null;
}

/** @returns the id of the event. */
export async function recordEvent(tx: Executor, event: NewEvent, now: Date): Promise<string> {
  const row = rowOf(event, now);
  await insertRow(tx, events, row);
  noteRowsAdded(tx, 'events');
  return row.id;
}

export async function recordEvents(tx: Executor, added: readonly NewEvent[], now: Date): Promise<void> {
  await tx.insert(events).values(added.map((event) => rowOf(event, now)));
  noteRowsAdded(tx, 'events');
}

function rowOf({ subject, ...event }: NewEvent, occurredAt: Date) {
  return { id: newId('event'), ...event, subjectKind: subject.kind, subjectId: subject.id, occurredAt };
}

/**
 * Nothing is recorded when the last status event has the same type and the same fields named in `reasons`, nor a second
 * event of a type that is announced once.
 */
export async function recordStatusEvent(
  tx: Executor,
  { type, subject, apiKeyId, data, traceparent = null }: NewEvent,
  reasons: readonly string[],
  now: Date,
  { isOnce = false } = {},
): Promise<void> {
  const again = sql`select from ${events} where subject_id = ${subject.id} and type = ${type}`;
  const { rowCount } = await tx.execute(sql`with new as (select ${JSON.stringify(data)}::jsonb as data)
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
    returning id`);
  if (rowCount !== 0) noteRowsAdded(tx, 'events');
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
export async function publishEvents(tx: Executor, batch: number): Promise<PublishedEvent[]> {
  await holdPublication(tx);
  const { sequence } = events;
  const waiting = await tx.select({ sequence }).from(events).where(unpublished).orderBy(sequence).limit(batch);
  if (waiting.length === 0) return [];
  const last = await lastPosition(tx);
  const positions = sql.join(
    waiting.map((event, index) => sql`(${event.sequence}::bigint, ${last + BigInt(index + 1)}::bigint)`),
    sql`, `,
  );
  const published = await tx
    .update(events)
    .set({ position: sql`placed.position` })
    .from(sql`(values ${positions}) as placed (sequence, position)`)
    .where(sql`${sequence} = placed.sequence`)
    .returning(getTableColumns(events));
  await tx.execute(sql`select pg_notify('events', ${String(last + BigInt(waiting.length))})`);
  return published.filter(isPublished).toSorted((one, other) => (one.position < other.position ? -1 : 1));
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

export function isPublished(row: EventRow): row is PublishedEvent {
  return row.position !== null;
}
