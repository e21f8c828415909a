/**
 * How long the oldest row of each queue of the relay has waited: for metrics, and for probes of processes that do not
 * run the relay.
 */
import { and, eq, isNull, min, sql, type SQL } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import type { Executor } from '#db/connection/database.ts';
import { PRESENT } from '#db/connection/from-now.ts';
import { events, inbox, outbox } from '#db/schema.ts';
import { RELAY_POLICY } from '#domain/policy/relay-policy.ts';
import type { Degradation } from '#telemetry/readiness.ts';

/** Queues whose rows carry the time at which they were stored. */
export const LAGGING_QUEUES = ['outbox', 'inbox', 'events'] as const;
export type LaggingQueue = (typeof LAGGING_QUEUES)[number];

/**
 * @returns for each queue the age of its oldest waiting row in seconds, by the clock of PostgreSQL; 0 when none waits.
 */
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

const CONSEQUENCES: Readonly<Record<LaggingQueue, string>> = {
  outbox: 'orders are accepted and not begun',
  inbox: 'reports of the service are stored and not passed on',
  events: 'events and webhooks to internal systems do not go out',
};

/** What readiness probes name as degraded: queues whose oldest row has waited for longer than a healthy relay takes. */
export async function readRelayConditions(db: Executor): Promise<Degradation[]> {
  const lag = await relayLag(db);
  return LAGGING_QUEUES.filter((queue) => lag[queue] * 1_000 >= RELAY_POLICY.behindAfterMs).map((queue) => ({
    condition: `relay_behind_${queue}`,
    detail:
      `The oldest row of the ${queue} has waited for ${Math.round(lag[queue])} seconds: ${CONSEQUENCES[queue]}. ` +
      'Is a worker ready, and does Temporal answer? Nothing is lost; it catches up by itself.',
  }));
}
