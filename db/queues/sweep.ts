import { and, asc, eq, inArray, isNull, lt, min, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts, cases, inbox } from '#db/schema.ts';
import { unfinished } from '#db/schema/columns.ts';
import { workTable } from '#db/work/rows.ts';
import type { SweptWork } from '#domain/relay/sweep-decision.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

interface SweepPlace {
  readonly updatedAt: number;
  readonly id: string;
}

export interface UnfinishedWork extends Omit<SweptWork, 'isRunning'> {
  readonly id: string;
}

export interface SweepPage {
  readonly kind: WorkKind;
  readonly after: SweepPlace | undefined;
  readonly idleBefore: Date;
  readonly rows: number;
}

export async function readUnfinished(
  db: Executor,
  { kind, after, idleBefore, rows }: SweepPage,
): Promise<UnfinishedWork[]> {
  const table = workTable(kind);
  const { id, status, createdAt, updatedAt, nextStepAt, sweptAt } = table;
  const mayBeSetBack = sql<boolean>`greatest(${updatedAt}, ${sweptAt}) < pg_postmaster_start_time()`;
  const place =
    after === undefined ? undefined : sql`(${updatedAt}, ${id}) > (${new Date(after.updatedAt)}, ${after.id})`;
  const work = await db
    .select({ id, status, createdAt, updatedAt, nextStepAt, sweptAt, mayBeSetBack })
    .from(table)
    .where(and(unfinished(status), lt(updatedAt, idleBefore), place))
    .orderBy(asc(updatedAt), asc(id))
    .limit(rows);
  const ids = work.map((each) => each.id);
  const [newest, relayed, open] =
    ids.length === 0
      ? NOTHING
      : [await newestAttempts(db, kind, ids), await oldestRelayed(db, kind, ids), await withOpenCase(db, kind, ids)];
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

type AttemptEnd = Pick<typeof attempts.$inferSelect, 'state' | 'lastReportAt'>;

type Disagreements = readonly [ReadonlyMap<string, AttemptEnd>, ReadonlyMap<string, Date>, ReadonlySet<string>];

const NOTHING: Disagreements = [new Map(), new Map(), new Set()];

async function newestAttempts(
  db: Executor,
  kind: WorkKind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AttemptEnd>> {
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

export async function markSwept(tx: Executor, kind: WorkKind, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  const table = workTable(kind);
  await tx
    .update(table)
    .set({ sweptAt: now })
    .where(inArray(table.id, [...ids]));
}
