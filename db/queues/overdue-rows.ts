/** Rows that the sweeper should have deleted: the oldest of each table. */
import { and, asc, lt, min, not, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { dueEntries, dueReports } from '#db/queues/history.ts';
import { auditLog, events, idempotencyKeys, inbox, timeline, webhookDeliveries } from '#db/schema.ts';

/** How long rows are kept, in milliseconds. */
export interface KeptTimes {
  readonly answersKeptMs: number;
  readonly eventsKeptMs: number;
  readonly deliveriesKeptMs: number;
  readonly historyKeptMs: number;
}

/** The tables from which the sweeper deletes old rows. */
export const SWEPT_TABLES = [
  'audit_log',
  'events',
  'idempotency_keys',
  'inbox',
  'timeline',
  'webhook_deliveries',
] as const;

/**
 * For how long the oldest row of each table has been due for deletion. Each query reads the first row of an index, and
 * for `timeline` and `inbox` also the older rows of unfinished work.
 * @param now epoch milliseconds.
 * @returns milliseconds; 0 when no row is due.
 */
export async function overdueRows(
  db: Executor,
  kept: KeptTimes,
  now: number,
): Promise<Readonly<Record<(typeof SWEPT_TABLES)[number], number>>> {
  const before = (keptMs: number) => new Date(now - keptMs);
  const late = ([row]: readonly { at: Date | null }[], keptMs: number) =>
    row?.at == null ? 0 : Math.max(0, now - keptMs - row.at.getTime());
  const { answersKeptMs, eventsKeptMs, deliveriesKeptMs, historyKeptMs } = kept;
  const ofAudit = await db.select({ at: min(auditLog.at) }).from(auditLog);
  // The newest event stays, whatever its age.
  const ofEvents = await db
    .select({ at: events.occurredAt })
    .from(events)
    .where(sql`${events.position} < (select max(${events.position}) from ${events})`)
    .orderBy(asc(events.position))
    .limit(1);
  const ofAnswers = await db
    .select({ at: min(idempotencyKeys.createdAt) })
    .from(idempotencyKeys)
    .where(not(idempotencyKeys.keptForGood));
  const ofReports = await db
    .select({ at: inbox.receivedAt })
    .from(inbox)
    .where(dueReports(db, before(historyKeptMs)))
    .orderBy(asc(inbox.id))
    .limit(1);
  const ofEntries = await db
    .select({ at: timeline.at })
    .from(timeline)
    .where(dueEntries(db, before(historyKeptMs)))
    .orderBy(asc(timeline.id))
    .limit(1);
  const ofDeliveries = await db
    .select({ at: min(webhookDeliveries.endedAt) })
    .from(webhookDeliveries)
    .where(and(sql`${webhookDeliveries.state} <> 'pending'`, lt(webhookDeliveries.endedAt, before(deliveriesKeptMs))));
  return {
    audit_log: late(ofAudit, historyKeptMs),
    events: late(ofEvents, eventsKeptMs),
    idempotency_keys: late(ofAnswers, answersKeptMs),
    inbox: late(ofReports, historyKeptMs),
    timeline: late(ofEntries, historyKeptMs),
    webhook_deliveries: late(ofDeliveries, deliveriesKeptMs),
  };
}
