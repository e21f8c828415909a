import { and, eq, isNull, min, sql, type SQL } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import * as z from 'zod';
import type { Queue } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { PRESENT } from '#db/connection/from-now.ts';
import { HEARTBEAT } from '#db/connection/notifier.ts';
import { unpublished } from '#db/events/event-log.ts';
import { unsentWake } from '#db/events/webhook-endpoints.ts';
import { GATE_IN_USE } from '#db/gate/waits.ts';
import { events, inbox, outbox, webhookEndpoints } from '#db/schema.ts';

/** What waits in the queues. */
export interface QueuePoll {
  /** Queues with rows that are due. */
  readonly due: readonly Queue[];
  /** Milliseconds until the next row is due, such as a postponed one; undefined: none is postponed. */
  readonly nextDueMs: number | undefined;
}

const polled = z.object({
  rows: z.tuple([
    z.object({
      outbox: z.number().nullable(),
      inbox: z.number().nullable(),
      events: z.boolean(),
      endpoints: z.boolean(),
      gate: z.boolean(),
    }),
  ]),
});

/**
 * Looks into all queues with one statement, by their indexes. Sends a notification to both channels besides, which
 * wakes nobody: the listeners that hear it know that notifications arrive.
 */
export async function pollQueues(db: Executor): Promise<QueuePoll> {
  const untilDue = sql`(extract(epoch from available_at - ${PRESENT}) * 1000)::double precision`;
  const answer = await db.execute(sql`
    select
      (select ${untilDue} from ${outbox} where quarantined_at is null order by available_at, id limit 1) as outbox,
      (select ${untilDue} from ${inbox} where state = 'pending' order by available_at, id limit 1) as inbox,
      exists (select from ${events} where ${unpublished}) as events,
      exists (select from ${webhookEndpoints} where ${unsentWake}) as endpoints,
      ${GATE_IN_USE} as gate,
      pg_notify('relay', ${HEARTBEAT}), pg_notify('events', ${HEARTBEAT})`);
  const {
    rows: [{ outbox: untilOutbox, inbox: untilInbox, ...isDue }],
  } = polled.parse(answer);
  const found = { outbox: isPast(untilOutbox), inbox: isPast(untilInbox), ...isDue };
  const later = [untilOutbox, untilInbox].filter((ms) => ms !== null && !isPast(ms)) as number[];
  return {
    due: (Object.keys(found) as Queue[]).filter((queue) => found[queue]),
    nextDueMs: later.length === 0 ? undefined : Math.ceil(Math.min(...later)),
  };
}

function isPast(ms: number | null): boolean {
  return ms !== null && ms <= 0;
}

/** Age of the oldest row of each relay queue, for metrics and for probes of processes without a relay. */

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
