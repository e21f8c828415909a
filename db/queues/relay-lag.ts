/** Age of the oldest row of each relay queue, for metrics and for probes of processes without a relay. */
import { and, eq, isNull, min, sql, type SQL } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import type { Executor } from '#db/connection/database.ts';
import { PRESENT } from '#db/connection/from-now.ts';
import { events, inbox, outbox } from '#db/schema.ts';

/** Queues whose rows have the time of their storage. */
export const LAGGING_QUEUES = ['outbox', 'inbox', 'events'] as const;
export type LaggingQueue = (typeof LAGGING_QUEUES)[number];

/** @returns for each queue the age of its oldest waiting row in seconds, by PostgreSQL's clock; 0 when none waits. */
export async function relayLag(db: Executor): Promise<Record<LaggingQueue, number>> {
  const [waitingOutbox] = await db
    .select({ age: ageOf(outbox.createdAt) })
    .from(outbox)
    .where(and(isNull(outbox.quarantinedAt)));
  const [waitingInbox] = await db
    .select({ age: ageOf(inbox.receivedAt) })
    .from(inbox)
    .where(eq(inbox.state, 'pending'));
  const [waitingEvents] = await db
    .select({ age: ageOf(events.occurredAt) })
    .from(events)
    .where(isNull(events.position));
  return { outbox: waitingOutbox?.age ?? 0, inbox: waitingInbox?.age ?? 0, events: waitingEvents?.age ?? 0 };
}

function ageOf(since: AnyPgColumn): SQL<number> {
  return sql`coalesce(greatest(0, extract(epoch from ${PRESENT} - ${min(since)})), 0)`.mapWith(Number);
}
