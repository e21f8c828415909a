import { and, asc, count, notInArray, type SQL, eq, inArray } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { workTable } from '#db/work/rows.ts';
import { workConditions, type WorkFilter } from '#db/work/work-reads.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { type WorkKind, WORK_KINDS } from '#domain/work/kinds.ts';
import { FINAL_STATUSES, type WorkStatus } from '#domain/work/lifecycle.ts';

export interface ChosenWork {
  readonly id: string;
  readonly status: WorkStatus;
  readonly failureClass: string | null;
  readonly attentionReason: string | null;
}

export async function chooseWork(
  db: Executor,
  kind: WorkKind,
  owner: Owner,
  choice: WorkFilter,
  limit: number,
): Promise<{ readonly matched: number; readonly chosen: ChosenWork[] }> {
  const table = workTable(kind);
  const where = conditions(kind, owner, choice);
  const [total] = await db.select({ matched: count() }).from(table).where(where);
  const chosen = await db
    .select({
      id: table.id,
      status: table.status,
      failureClass: table.failureClass,
      attentionReason: table.attentionReason,
    })
    .from(table)
    .where(where)
    .orderBy(asc(table.createdAt), asc(table.id))
    .limit(limit);
  return { matched: total?.matched ?? 0, chosen };
}

function conditions(kind: WorkKind, owner: Owner, filter: WorkFilter): SQL | undefined {
  const table = workTable(kind);
  // Ended work would be selected on every call, and work that can be changed would never be reached.
  const goesOn = filter.ids === undefined && filter.statuses === undefined && filter.attentionReason === undefined;
  return and(workConditions(kind, owner, filter), goesOn ? notInArray(table.status, [...FINAL_STATUSES]) : undefined);
}

/** By failure class. Shows the state of the service without a call to it. */
export async function countHeldWork(
  db: Executor,
  classes: readonly FailureClass[],
): Promise<ReadonlyMap<FailureClass, number>> {
  const counts = new Map<FailureClass, number>();
  for (const kind of WORK_KINDS) {
    const table = workTable(kind);
    const rows = await db
      .select({ failure: table.failureClass, held: count() })
      .from(table)
      .where(and(eq(table.status, 'held'), inArray(table.failureClass, [...classes])))
      .groupBy(table.failureClass);
    for (const { failure, held } of rows) {
      if (failure !== null) counts.set(failure, (counts.get(failure) ?? 0) + held);
    }
  }
  return counts;
}
