/** Queries of cases, and closing a case about a delivery. */
import { and, asc, count, eq, getTableColumns, isNull, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { ownCases, type Owner } from '#db/lists/ownership.ts';
import { cases } from '#db/schema.ts';
import { inList } from '#db/schema/columns.ts';
import { closeCase, type CaseRow } from '#db/work/cases.ts';
import { workTable } from '#db/work/kinds.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { FINAL_STATUSES, type WorkStatus } from '#domain/work/lifecycle.ts';

/** Where a page ended; the next one starts after it. */
export interface CasePosition {
  readonly openedAt: Date;
  readonly id: string;
}

/** A case, and the present state of its work: null for a case about a delivery, and for work whose row is lost. */
export type CaseOfWork = CaseRow & {
  readonly workStatus: WorkStatus | null;
  readonly workFailure: FailureClass | null;
};

/** How many cases are open, by reason. */
export async function countOpenCases(db: Executor): Promise<{ reason: AttentionReason; count: number }[]> {
  return db
    .select({ reason: cases.reason, count: count() })
    .from(cases)
    .where(isNull(cases.closedAt))
    .groupBy(cases.reason)
    .orderBy(cases.reason);
}

/** A case with a column of its work. Ids of different kinds differ, so at most one row is found. */
function caseColumns(db: Executor) {
  const ofWork = <Value>(name: 'status' | 'failureClass'): SQL<Value | null> => {
    const ofKind = WORK_KINDS.map((kind) => {
      const { id, [name]: column } = workTable(kind);
      return sql`(${db.select({ column }).from(workTable(kind)).where(eq(id, cases.subjectId))})`;
    });
    return sql<Value | null>`coalesce(${sql.join(ofKind, sql`, `)})`;
  };
  const [workStatus, workFailure] = [ofWork<WorkStatus>('status'), ofWork<FailureClass>('failureClass')];
  return { ...getTableColumns(cases), workStatus, workFailure };
}

/** A page of open cases, oldest first. */
export async function listOpenCases(
  db: Executor,
  owner: Owner,
  options: {
    readonly limit: number;
    readonly reason?: AttentionReason | undefined;
    /** True: only those about ended work. False: only all others. */
    readonly workEnded?: boolean | undefined;
    readonly after?: CasePosition | undefined;
  },
): Promise<CaseOfWork[]> {
  const { limit, reason, workEnded, after } = options;
  const columns = caseColumns(db);
  const hasEnded = sql`coalesce(${columns.workStatus} in (${inList(FINAL_STATUSES)}), false)`;
  return db
    .select(columns)
    .from(cases)
    .where(
      and(
        isNull(cases.closedAt),
        ownCases(db, owner),
        reason === undefined ? undefined : eq(cases.reason, reason),
        workEnded === undefined ? undefined : eq(hasEnded, workEnded),
        after === undefined ? undefined : sql`(${cases.openedAt}, ${cases.id}) > (${after.openedAt}, ${after.id})`,
      ),
    )
    .orderBy(asc(cases.openedAt), asc(cases.id))
    .limit(limit);
}

/** A case, open or closed. @param owner restricts to work of this owner; undefined: all. */
export async function findCase(db: Executor, id: string, owner: Owner): Promise<CaseOfWork | undefined> {
  const [row] = await db
    .select(caseColumns(db))
    .from(cases)
    .where(and(eq(cases.id, id), ownCases(db, owner)));
  return row;
}

/** Closes a case about a delivery. Cases about work are resolved with the work. */
export async function dismissDeliveryCase(
  tx: Executor,
  { subjectId, reason }: CaseRow,
  dismissal: string,
  now: Date,
): Promise<void> {
  await closeCase(tx, { kind: 'delivery', id: subjectId }, reason, `dismissed: ${dismissal}`, now);
}
