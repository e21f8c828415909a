import { and, asc, eq, inArray, isNull, lt, min, sql } from 'drizzle-orm';
import { DATABASE_EPOCH } from '#db/connection/database-epoch.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import { requestStart, requestWake } from '#db/queues/outbox.ts';
import { attempts, cases, inbox } from '#db/schema.ts';
import { unfinished } from '#db/schema/columns.ts';
import { workTable } from '#db/work/rows.ts';
import type { SweepPolicy } from '#domain/policy/upkeep-policy.ts';
import { sweepDecision, type SweepCursor, type SweepDecision, type SweptWork } from '#domain/relay/sweep-decision.ts';
import { WORK_KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';
import type { Logger } from '#telemetry/logger.ts';

export interface SweepTools {
  readonly database: Database;
  readonly sweep: SweepPolicy;
  readonly logger: Logger;
  /** One call. @throws when Temporal does not answer. */
  readonly findRunning: (work: readonly WorkRef[]) => Promise<ReadonlySet<string>>;
  readonly now: () => number;
}

/**
 * A start of running work has no effect, so an outdated answer of Temporal does no harm. Without `next`, the next sweep
 * begins again.
 */
export async function sweepWork(
  tools: SweepTools,
  from: SweepCursor | undefined,
): Promise<{ requested: number; woken: number; next?: SweepCursor }> {
  const { database, sweep, now } = tools;
  const until = now() + sweep.sweepingMs;
  const first = from === undefined ? 0 : WORK_KINDS.indexOf(from.kind);
  let after = from?.after;
  let requested = 0;
  let woken = 0;
  let isBlind = false;
  for (const kind of WORK_KINDS.slice(first)) {
    for (;;) {
      const idleBefore = new Date(now() - sweep.idleAfterMs);
      const cursor = { kind, after };
      const work = await database.run((db) => readUnfinished(db, cursor, idleBefore, sweep.pageRows));
      // Once Temporal has not answered, the page is started as a whole, which does not affect running work.
      const running: ReadonlySet<string> | undefined = isBlind ? undefined : await runningOf(tools, kind, work);
      isBlind = running === undefined;
      const decisions = work.map((each) => ({
        id: each.id,
        decision: sweepDecision({ ...each, isRunning: running?.has(each.id) ?? false }, sweep, now()),
      }));
      const starts = decisions.filter(({ decision }) => decision.kind === 'start');
      const wakes = decisions.filter(({ decision }) => decision.kind === 'wake');
      await request(tools, kind, starts, wakes);
      requested += starts.length;
      woken += wakes.length;
      const last = work.length < sweep.pageRows ? undefined : work.at(-1);
      after = last && { updatedAt: last.updatedAt, id: last.id };
      if (after !== undefined && (isBlind || now() >= until)) return { requested, woken, next: { kind, after } };
      if (after === undefined) break;
    }
  }
  return { requested, woken };
}

/** @returns undefined when Temporal did not answer. */
async function runningOf(
  { sweep, findRunning, logger }: SweepTools,
  kind: WorkKind,
  work: readonly UnfinishedWork[],
): Promise<ReadonlySet<string> | undefined> {
  const running = new Set<string>();
  try {
    for (let start = 0; start < work.length; start += sweep.listIds) {
      const some = work.slice(start, start + sweep.listIds).map(({ id }) => ({ kind, id }));
      for (const id of await findRunning(some)) running.add(id);
    }
    return running;
  } catch (error) {
    logger.warn(
      { err: error, kind },
      'Temporal did not list the running workflows; the sweep requests one page of starts and continues later',
    );
    return undefined;
  }
}

interface Decided {
  readonly id: string;
  readonly decision: SweepDecision;
}

async function request(
  { database, logger, now }: SweepTools,
  kind: WorkKind,
  starts: readonly Decided[],
  wakes: readonly Decided[],
): Promise<void> {
  const ids = [...starts, ...wakes].map(({ id }) => id);
  if (ids.length === 0) return;
  await database.transaction(async (tx) => {
    // Lock the work first, as everywhere: another holder of the lock may be about to write its outbox row.
    await markSwept(tx, kind, ids, new Date(now()));
    for (const { id } of starts) await requestStart(tx, { kind, id });
    for (const { id } of wakes) await requestWake(tx, { kind, id });
  });
  for (const { id, decision } of wakes) {
    logger.info({ workId: id, ...decision }, 'a workflow is woken because its row shows that it should have continued');
  }
}

interface UnfinishedWork extends Omit<SweptWork, 'isRunning'> {
  readonly id: string;
}

async function readUnfinished(
  db: Executor,
  { kind, after }: SweepCursor,
  idleBefore: Date,
  rows: number,
): Promise<UnfinishedWork[]> {
  const table = workTable(kind);
  const { id, status, createdAt, updatedAt, nextStepAt, sweptAt, comparedEpoch } = table;
  // The clock of a worker may be ahead of PostgreSQL's.
  const start = sql`pg_postmaster_start_time() + interval '1 minute'`;
  const isCompared = sql`coalesce(${comparedEpoch} = (select ${DATABASE_EPOCH}), ${updatedAt} >= ${start})`;
  const mayBeSetBack = sql<boolean>`not (${isCompared} or coalesce(${sweptAt} >= ${start}, false))`;
  const place =
    after === undefined ? undefined : sql`(${updatedAt}, ${id}) > (${new Date(after.updatedAt)}, ${after.id})`;
  const work = await db
    .select({ id, status, createdAt, updatedAt, nextStepAt, sweptAt, mayBeSetBack })
    .from(table)
    .where(and(unfinished(status), lt(updatedAt, idleBefore), place))
    .orderBy(asc(updatedAt), asc(id))
    .limit(rows);
  if (work.length === 0) return [];
  const ids = work.map((each) => each.id);
  const newest = await newestAttempts(db, kind, ids);
  const relayed = await oldestRelayed(db, kind, ids);
  const open = await withOpenCase(db, kind, ids);
  return work.map((each) => {
    const attempt = newest.get(each.id);
    const relayedSince = relayed.get(each.id);
    return {
      id: each.id,
      status: each.status,
      createdAt: each.createdAt.getTime(),
      updatedAt: each.updatedAt.getTime(),
      mayBeSetBack: each.mayBeSetBack,
      hasOpenCase: open.has(each.id),
      ...(each.nextStepAt !== null && { nextStepAt: each.nextStepAt.getTime() }),
      ...(each.sweptAt !== null && { sweptAt: each.sweptAt.getTime() }),
      ...(attempt !== undefined && { attemptState: attempt.state }),
      ...(attempt?.lastReportAt != null && { lastReportAt: attempt.lastReportAt.getTime() }),
      ...(relayedSince !== undefined && { relayedSince: relayedSince.getTime() }),
    };
  });
}

async function newestAttempts(db: Executor, kind: WorkKind, ids: readonly string[]) {
  const { subjectId, subjectKind, number, state, lastReportAt } = attempts;
  const rows = await db
    .selectDistinctOn([subjectId], { subjectId, state, lastReportAt })
    .from(attempts)
    .where(and(eq(subjectKind, kind), inArray(subjectId, [...ids])))
    .orderBy(subjectId, sql`${number} desc`);
  return new Map(rows.map((row) => [row.subjectId, row]));
}

/** Taking a row sets the end of its lease. */
async function oldestRelayed(db: Executor, kind: WorkKind, ids: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  const rows = await db
    .select({ id: inbox.subjectId, since: min(inbox.availableAt) })
    .from(inbox)
    .where(and(eq(inbox.subjectKind, kind), inArray(inbox.subjectId, [...ids]), eq(inbox.state, 'relayed')))
    .groupBy(inbox.subjectId);
  return new Map(rows.flatMap(({ id, since }) => (id === null || since === null ? [] : [[id, since] as const])));
}

async function withOpenCase(db: Executor, kind: WorkKind, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectDistinct({ id: cases.subjectId })
    .from(cases)
    .where(and(eq(cases.subjectKind, kind), inArray(cases.subjectId, [...ids]), isNull(cases.closedAt)));
  return new Set(rows.map(({ id }) => id));
}

async function markSwept(tx: Executor, kind: WorkKind, ids: readonly string[], now: Date): Promise<void> {
  const table = workTable(kind);
  await tx
    .update(table)
    .set({ sweptAt: now })
    .where(inArray(table.id, [...ids]));
}
