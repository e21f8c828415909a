/** A taken row belongs to one relay until its lease ends; `tries` is the token of that lease. */
import { and, eq, getTableColumns, inArray, isNull, min, sql, type SQL } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import * as z from 'zod';
import type { Queue } from '#db/connection/after-commit.ts';
import { DATABASE_EPOCH } from '#db/connection/database-epoch.ts';
import type { Executor } from '#db/connection/database.ts';
import { fromNow, PRESENT } from '#db/connection/from-now.ts';
import { HEARTBEAT } from '#db/connection/notifier.ts';
import { unpublished } from '#db/events/event-log.ts';
import { unsentWake } from '#db/events/webhook-endpoints.ts';
import { GATE_IN_USE } from '#db/gate/waits.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import type { OutboxRow } from '#db/queues/outbox.ts';
import { events, inbox, outbox, webhookEndpoints } from '#db/schema.ts';
import { startOf, type StoredStart } from '#db/work/rows.ts';
import type { ObservationDecision } from '#domain/relay/observation.ts';
import type { StoredInboxRow } from '#domain/relay/relay-decision.ts';
import { WORK_KINDS, type WorkRef } from '#domain/work/kinds.ts';

type TakenRow = Pick<InboxRow, 'id' | 'tries'>;

const QUEUES = {
  inbox: { table: inbox, isOpen: sql`${inbox.state} = 'pending'` },
  outbox: { table: outbox, isOpen: sql`${outbox.quarantinedAt} is null` },
} as const;

/** As a CTE it runs once: a subquery with SKIP LOCKED may run once for each row. */
function dueIn(db: Executor, queue: keyof typeof QUEUES, batch: number) {
  const { table, isOpen } = QUEUES[queue];
  return db.$with('due').as(
    db
      .select({ id: sql<bigint>`${table.id}`.as('id') })
      .from(table)
      .where(and(isOpen, sql`${table.availableAt} <= ${PRESENT}`))
      .orderBy(table.availableAt, table.id)
      .limit(batch)
      .for('update', { skipLocked: true }),
  );
}

interface Taking {
  readonly batch: number;
  /** By PostgreSQL's clock. */
  readonly leaseMs: number;
}

export async function takeInbox(db: Executor, { batch, leaseMs }: Taking): Promise<InboxRow[]> {
  const due = dueIn(db, 'inbox', batch);
  const rows = await db
    .with(due)
    .update(inbox)
    .set({ availableAt: fromNow(leaseMs), tries: sql`${inbox.tries} + 1` })
    .where(and(inArray(inbox.id, db.select({ id: due.id }).from(due)), eq(inbox.state, 'pending')))
    .returning();
  return rows.toSorted(byId);
}

export type TakenRequest = OutboxRow & { readonly start: StoredStart | null };

const startOfSubject = sql<StoredStart | null>`case ${outbox.subjectKind} ${sql.join(
  WORK_KINDS.map((kind) => sql`when ${sql.raw(`'${kind}'`)} then ${startOf(kind, outbox.subjectId)}`),
  sql` `,
)} end`;

export async function takeOutbox(db: Executor, { batch, leaseMs }: Taking): Promise<TakenRequest[]> {
  const due = dueIn(db, 'outbox', batch);
  const rows = await db
    .with(due)
    .update(outbox)
    .set({ availableAt: fromNow(leaseMs), tries: sql`${outbox.tries} + 1` })
    .where(inArray(outbox.id, db.select({ id: due.id }).from(due)))
    .returning({ ...getTableColumns(outbox), start: startOfSubject });
  return rows.toSorted(byId);
}

function byId(left: TakenRow, right: TakenRow): number {
  return left.id < right.id ? -1 : 1;
}

/** Another relay may have taken or settled them, or they were requested again. */
function stillHeld(queue: keyof typeof QUEUES, rows: readonly TakenRow[]): SQL {
  const { table, isOpen } = QUEUES[queue];
  const taken = sql.join(
    rows.map(({ id, tries }) => sql`(${id}::bigint, ${tries}::integer)`),
    sql`, `,
  );
  return sql`(${table.id}, ${table.tries}) in (${taken}) and ${isOpen}`;
}

/** @param why.isLasting too many lasting errors quarantine the row. */
export async function postpone(
  db: Executor,
  queue: keyof typeof QUEUES,
  row: TakenRow,
  { error, delayMs, isLasting }: { readonly error: string; readonly delayMs: number; readonly isLasting: boolean },
): Promise<void> {
  await db.execute(sql`update ${QUEUES[queue].table} set last_error = ${error}, available_at = ${fromNow(delayMs)},
    lasting_errors = lasting_errors + ${isLasting ? 1 : 0}::integer where ${stillHeld(queue, [row])}`);
}

export async function release(db: Executor, queue: keyof typeof QUEUES, rows: readonly TakenRow[]): Promise<void> {
  if (rows.length === 0) return;
  await db.execute(sql`update ${QUEUES[queue].table} set available_at = ${fromNow(0)} where ${stillHeld(queue, rows)}`);
}

export async function settleOutbox(db: Executor, rows: readonly TakenRow[]): Promise<void> {
  if (rows.length > 0) await db.delete(outbox).where(stillHeld('outbox', rows));
}

/** Work is locked before inbox rows: the caller holds its lock. @throws Error when the row does not exist. */
export async function holdRow(tx: Executor, row: TakenRow): Promise<StoredInboxRow & { readonly epoch: string }> {
  const { state, decision, tries } = inbox;
  const [stored] = await tx
    .select({ state, decision, tries, epoch: DATABASE_EPOCH })
    .from(inbox)
    .where(eq(inbox.id, row.id))
    .for('update');
  if (stored === undefined) throw new Error(`inbox row ${row.id} does not exist`);
  const { tries: now, ...rest } = stored;
  return { ...rest, isOurs: now === row.tries };
}

export interface RowJudgement {
  readonly attemptId: string;
  readonly work: WorkRef;
  readonly decision: ObservationDecision;
  /** `leaseMs` renews the lease, so that the call that follows has a whole one. */
  readonly end: { readonly note: string; readonly appliedAt: Date } | { readonly leaseMs: number };
}

export async function storeJudgement(
  tx: Executor,
  { id }: TakenRow,
  { attemptId, work, decision, end }: RowJudgement,
): Promise<void> {
  const outcome = 'note' in end ? { ...end, state: 'applied' as const } : { availableAt: fromNow(end.leaseMs) };
  await tx
    .update(inbox)
    .set({ attemptId, subjectKind: work.kind, subjectId: work.id, decision, ...outcome })
    .where(eq(inbox.id, id));
}

export async function changeHeld(
  db: Executor,
  row: TakenRow,
  change: Partial<Omit<InboxRow, 'id' | 'tries'>>,
): Promise<boolean> {
  const changed = await db
    .update(inbox)
    .set(change)
    .where(stillHeld('inbox', [row]))
    .returning({ id: inbox.id });
  return changed.length > 0;
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
 * Its notification wakes nobody: it only proves that notifications arrive.
 * @returns the queues with due rows, and the milliseconds until the next postponed one.
 */
export async function pollQueues(
  db: Executor,
): Promise<{ readonly due: readonly Queue[]; readonly nextDueMs: number | undefined }> {
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

export const LAGGING_QUEUES = ['outbox', 'inbox', 'events'] as const;

/**
 * Age of the oldest waiting row in seconds, by PostgreSQL's clock; 0 when none waits. A row that fails by itself is on
 * its way to the quarantine, and says nothing about the relay.
 */
export async function relayLag(db: Executor): Promise<Record<(typeof LAGGING_QUEUES)[number], number>> {
  const ageOf = (since: AnyPgColumn) =>
    sql`coalesce(greatest(0, extract(epoch from ${PRESENT} - ${min(since)})), 0)`.mapWith(Number);
  const [ofOutbox] = await db
    .select({ age: ageOf(outbox.createdAt) })
    .from(outbox)
    .where(and(isNull(outbox.quarantinedAt), eq(outbox.lastingErrors, 0)));
  const [ofInbox] = await db
    .select({ age: ageOf(inbox.receivedAt) })
    .from(inbox)
    .where(and(eq(inbox.state, 'pending'), eq(inbox.lastingErrors, 0)));
  const [ofEvents] = await db
    .select({ age: ageOf(events.occurredAt) })
    .from(events)
    .where(unpublished);
  return { outbox: ofOutbox?.age ?? 0, inbox: ofInbox?.age ?? 0, events: ofEvents?.age ?? 0 };
}
