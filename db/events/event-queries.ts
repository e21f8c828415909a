import { and, asc, eq, gt, inArray, isNotNull, lte, max, min, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { isPublished, type EventRow, type PublishedEvent } from '#db/events/event-log.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { matches } from '#db/lists/pages.ts';
import { events } from '#db/schema.ts';
import type { EventType } from '#domain/events/event-types.ts';
import { MINUTE } from '#domain/policy/settings.ts';

export interface EventFilter {
  readonly types?: readonly EventType[] | undefined;
  readonly subjectId?: string | undefined;
  readonly owner: Owner;
}

export async function listEvents(
  db: Executor,
  filter: EventFilter,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<PublishedEvent[]> {
  const { types, subjectId, owner } = filter;
  const inPage = and(gt(events.position, after), matches(events.apiKeyId, owner), matches(events.subjectId, subjectId));
  // Few events of a subject, and all events by position: each has an index in the order of the feed.
  const where =
    subjectId !== undefined || types === undefined
      ? and(inPage, types && inArray(events.type, types))
      : inArray(events.id, pageByType(types, inPage, limit));
  const rows = await db.select().from(events).where(where).orderBy(asc(events.position)).limit(limit);
  return rows.filter(isPublished);
}

/** No index gives several types in the order of the feed, but each type has one. */
function pageByType(types: readonly EventType[], inPage: SQL | undefined, limit: number): SQL {
  const wanted = sql.join(
    types.map((type) => sql`(${type}::text)`),
    sql`, `,
  );
  return sql`(select found.id from (values ${wanted}) as wanted (type) cross join lateral (
    select ${events.id}, ${events.position} from ${events} where ${events.type} = wanted.type and ${inPage}
    order by ${events.position} limit ${limit}) as found (id, position) order by found.position limit ${limit})`;
}

export function meets({ types, subjectId, owner }: EventFilter, event: EventRow): boolean {
  return (
    (types === undefined || types.includes(event.type)) &&
    (subjectId === undefined || event.subjectId === subjectId) &&
    (owner === undefined || event.apiKeyId === owner)
  );
}

export async function findEvent(db: Executor, id: string, owner: Owner): Promise<PublishedEvent | undefined> {
  const [row] = await db
    .select()
    .from(events)
    .where(and(eq(events.id, id), isNotNull(events.position), matches(events.apiKeyId, owner)));
  return row !== undefined && isPublished(row) ? row : undefined;
}

export async function keptPositions(db: Executor): Promise<{ readonly oldest: bigint; readonly newest: bigint }> {
  const [kept] = await db.select({ oldest: min(events.position), newest: max(events.position) }).from(events);
  return { oldest: kept?.oldest ?? 1n, newest: kept?.newest ?? 0n };
}

/** Events are published almost in the order of their times: a reading of the catalogue takes minutes. */
const OUT_OF_ORDER_MS = 10 * MINUTE;

/** The position before the first event that is later than a time; the newest position when there is none. */
export async function positionBefore(db: Executor, time: Date): Promise<bigint> {
  const isLater = and(gt(events.occurredAt, time), isNotNull(events.position));
  const [first] = await db
    .select({ at: events.occurredAt })
    .from(events)
    .where(isLater)
    .orderBy(asc(events.occurredAt))
    .limit(1);
  if (first !== undefined) {
    const until = new Date(first.at.getTime() + OUT_OF_ORDER_MS);
    // With the bare column PostgreSQL would walk through all earlier positions.
    const [found] = await db
      .select({ position: sql<bigint | null>`min(${events.position} + 0)`.mapWith(events.position) })
      .from(events)
      .where(and(isLater, lte(events.occurredAt, until)));
    // They may have been deleted since.
    if (found?.position != null) return found.position - 1n;
  }
  return (await keptPositions(db)).newest;
}

/** Never deletes the newest event, because positions continue from it. @returns fewer than `batch`: none are left. */
export async function forgetEvents(
  db: Executor,
  { before, batch }: { readonly before: Date; readonly batch: number },
): Promise<number> {
  const oldest = sql`(select ${events.position}, ${events.occurredAt} from ${events}
    where ${events.position} is not null
    order by ${events.position} limit ${batch})`;
  const firstKept = sql`(select coalesce(min(oldest.position), (select max(${events.position}) from ${events}))
    from ${oldest} as oldest (position, occurred_at) where oldest.occurred_at >= ${before})`;
  const lastOfBatch = sql`(select max(oldest.position) from ${oldest} as oldest (position, occurred_at))`;
  const forgotten = await db
    .delete(events)
    .where(sql`${events.position} < ${firstKept} and ${events.position} <= ${lastOfBatch}`)
    .returning({ id: events.id });
  return forgotten.length;
}
