/** Deletes what explains ended work, not what proves its money. */
import { and, asc, eq, inArray, lt, min, not, notExists, notInArray, sql, type SQL } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import type { Executor } from '#db/connection/database.ts';
import { auditLog, events, idempotencyKeys, inbox, timeline, webhookDeliveries } from '#db/schema.ts';
import { unfinished } from '#db/schema/columns.ts';
import { workTable } from '#db/work/rows.ts';
import { SUBSCRIPTION_ENTRIES } from '#db/work/vpn-subscriptions.ts';
import type { SweepPolicy } from '#domain/policy/upkeep-policy.ts';
import type { InboxState } from '#domain/relay/relay-decision.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';

const SETTLED: InboxState[] = ['applied', 'replayed', 'ignored'];

interface Old {
  readonly before: Date;
  readonly batch: number;
}

function hasEnded(db: Executor, subjectId: AnyPgColumn): SQL | undefined {
  return and(
    ...WORK_KINDS.map((kind) => {
      const { id, status } = workTable(kind);
      const open = db
        .select({ one: sql`1` })
        .from(workTable(kind))
        .where(and(eq(id, subjectId), unfinished(status)));
      return notExists(open);
    }),
  );
}

/** Ids grow with time: halving their range needs some dozen reads, a search would read the whole table. */
function olderThan(table: typeof timeline | typeof inbox, at: AnyPgColumn, before: Date): SQL | undefined {
  const { id } = table;
  const firstKept = sql`(with recursive range (low, high) as (
      select min(${id}), max(${id}) + 1 from ${table}
      union all
      select case when middle.is_old then middle.id + 1 else low end, case when middle.is_old then high else half end
      from range cross join lateral (select low + (high - low) / 2 as half) as halved
        cross join lateral (
          select ${id} as id, ${at} < ${before.toISOString()}::timestamptz as is_old from ${table}
          where ${id} >= half order by ${id} limit 1
        ) as middle
      where low < high
    ) select max(low) from range)`;
  // Ids of concurrent transactions differ from the order of their times by moments.
  return and(sql`${id} < ${firstKept}`, lt(at, before));
}

/** Entries that answers about subscriptions are read from stay. */
export function dueEntries(db: Executor, before: Date): SQL | undefined {
  const kept = [SUBSCRIPTION_ENTRIES.renewed, ...SUBSCRIPTION_ENTRIES.ends];
  const isOld = olderThan(timeline, timeline.at, before);
  return and(isOld, notInArray(timeline.event, kept), hasEnded(db, timeline.subjectId));
}

function dueReports(db: Executor, before: Date): SQL | undefined {
  const isOld = olderThan(inbox, inbox.receivedAt, before);
  return and(isOld, inArray(inbox.state, SETTLED), hasEnded(db, inbox.subjectId));
}

/** @returns fewer than `batch`: none are left. */
async function deleteOldest(
  db: Executor,
  table: typeof auditLog | typeof inbox | typeof timeline,
  isDue: SQL | undefined,
  batch: number,
): Promise<number> {
  const { id } = table;
  const old = db.select({ id }).from(table).where(isDue).orderBy(asc(id)).limit(batch);
  return (await db.delete(table).where(inArray(id, old)).returning({ id })).length;
}

export async function forgetTimeline(db: Executor, { before, batch }: Old): Promise<number> {
  return deleteOldest(db, timeline, dueEntries(db, before), batch);
}

/** The policy keeps reports while a copy would be accepted. */
export async function forgetReports(db: Executor, { before, batch }: Old): Promise<number> {
  return deleteOldest(db, inbox, dueReports(db, before), batch);
}

export async function forgetAudit(db: Executor, { before, batch }: Old): Promise<number> {
  return deleteOldest(db, auditLog, lt(auditLog.at, before), batch);
}

export type KeptTimes = Pick<SweepPolicy, 'answersKeptMs' | 'eventsKeptMs' | 'historyKeptMs'> & {
  readonly deliveriesKeptMs: number;
};

export const SWEPT_TABLES = [
  'audit_log',
  'events',
  'idempotency_keys',
  'inbox',
  'timeline',
  'webhook_deliveries',
] as const;

/** @param now epoch milliseconds. @returns milliseconds; 0 when no row is due. */
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
  // The newest event stays.
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
