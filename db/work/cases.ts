import {
  and,
  eq,
  isNull,
  notInArray,
  or,
  sql,
  type SQL,
  asc,
  count,
  getTableColumns,
  type Column,
  exists,
  inArray,
} from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { ownCases, type Owner } from '#db/lists/ownership.ts';
import { matches, type PageOptions, type PagePosition } from '#db/lists/pages.ts';
import { cases } from '#db/schema.ts';
import { inList } from '#db/schema/columns.ts';
import { workTable } from '#db/work/rows.ts';
import type { Subject } from '#db/work/timeline.ts';
import { DOUBTS } from '#domain/retry/resubmission.ts';
import { JUDGED_BY_PERSONS, type AttentionReason } from '#domain/work/attention.ts';
import { WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { FINAL_STATUSES, type WorkStatus } from '#domain/work/lifecycle.ts';

export type CaseRow = typeof cases.$inferSelect;

/** A case of {@link DOUBTS} about the work is open. @param work whose `id` may be a column. */
export function isInDoubt(db: Executor, { kind, id }: { readonly kind: WorkKind; readonly id: string | Column }) {
  const open = db
    .select({ id: cases.id })
    .from(cases)
    .where(
      and(eq(cases.subjectKind, kind), eq(cases.subjectId, id), inArray(cases.reason, DOUBTS), isNull(cases.closedAt)),
    );
  return sql<boolean>`${exists(open)}`;
}

/**
 * An open case with the same reason is not changed. @returns true when it is new.
 * @param how.once for each reason and attempt, even after a person has closed it.
 * @param how.product one case for all work with this product, and none with the same detail after a person has closed
 * it: the detail then names no work.
 */
export async function openCase(
  db: Executor,
  subject: Subject,
  reason: AttentionReason,
  detail: string,
  attemptId: string | null = null,
  { once = false, product }: { readonly once?: boolean; readonly product?: number | undefined } = {},
): Promise<boolean> {
  if (once || product !== undefined) {
    const same =
      product === undefined
        ? and(
            eq(cases.subjectId, subject.id),
            attemptId === null ? isNull(cases.attemptId) : eq(cases.attemptId, attemptId),
          )
        : and(eq(cases.product, product), or(isNull(cases.closedAt), eq(cases.detail, detail)));
    const [known] = await db
      .select({ id: cases.id })
      .from(cases)
      .where(and(eq(cases.subjectKind, subject.kind), eq(cases.reason, reason), same))
      .limit(1);
    if (known !== undefined) return false;
  }
  const rows = await db
    .insert(cases)
    .values({ id: newId('case'), subjectKind: subject.kind, subjectId: subject.id, reason, attemptId, product, detail })
    .onConflictDoNothing()
    .returning({ id: cases.id });
  return rows.length > 0;
}

export async function findOpenCase(
  db: Executor,
  subject: Subject,
  reason: AttentionReason,
): Promise<CaseRow | undefined> {
  const [row] = await db
    .select()
    .from(cases)
    .where(open(subject, eq(cases.reason, reason)));
  return row;
}

export async function openReasons(db: Executor, subject: Subject): Promise<AttentionReason[]> {
  const rows = await db
    .select({ reason: cases.reason })
    .from(cases)
    .where(open(subject, sql`true`));
  return rows.map(({ reason }) => reason);
}

export async function hasOpenCase(db: Executor, subject: Subject, reason: AttentionReason): Promise<boolean> {
  return (await findOpenCase(db, subject, reason)) !== undefined;
}

/** The work continues; cases that only a person can judge stay. @param resolution a sentence. */
export async function closeCases(db: Executor, subject: Subject, resolution: string, now: Date): Promise<void> {
  await closing(db, subject, notInArray(cases.reason, [...JUDGED_BY_PERSONS]), resolution, now);
}

export async function closeCase(
  db: Executor,
  subject: Subject,
  reason: AttentionReason,
  resolution: string,
  now: Date,
): Promise<void> {
  await closing(db, subject, eq(cases.reason, reason), resolution, now);
}

function closing(db: Executor, subject: Subject, which: SQL, resolution: string, now: Date) {
  return db.update(cases).set({ closedAt: now, resolution }).where(open(subject, which));
}

function open(subject: Subject, which: SQL): SQL | undefined {
  return and(eq(cases.subjectKind, subject.kind), eq(cases.subjectId, subject.id), which, isNull(cases.closedAt));
}

export type CaseOfWork = CaseRow & {
  /** Null for a case about a delivery, and for work whose row is lost. */
  readonly workStatus: WorkStatus | null;
};

export async function countOpenCases(db: Executor): Promise<{ reason: AttentionReason; count: number }[]> {
  return db
    .select({ reason: cases.reason, count: count() })
    .from(cases)
    .where(isNull(cases.closedAt))
    .groupBy(cases.reason)
    .orderBy(cases.reason);
}

/** Ids of different kinds differ, so at most one row is found. */
function workStatus(db: Executor): SQL<WorkStatus | null> {
  const ofKind = WORK_KINDS.map((kind) => {
    const { id, status } = workTable(kind);
    return sql`(${db.select({ status }).from(workTable(kind)).where(eq(id, cases.subjectId))})`;
  });
  return sql<WorkStatus | null>`coalesce(${sql.join(ofKind, sql`, `)})`;
}

export async function listOpenCases(
  db: Executor,
  owner: Owner,
  options: PageOptions<PagePosition<'openedAt'>> & {
    readonly reason?: AttentionReason | undefined;
    /** Undefined: both. */
    readonly workEnded?: boolean | undefined;
  },
): Promise<CaseOfWork[]> {
  const { limit, reason, workEnded, after } = options;
  const status = workStatus(db);
  const hasEnded = sql`coalesce(${status} in (${inList(FINAL_STATUSES)}), false)`;
  return db
    .select({ ...getTableColumns(cases), workStatus: status })
    .from(cases)
    .where(
      and(
        isNull(cases.closedAt),
        ownCases(db, owner),
        matches(cases.reason, reason),
        workEnded === undefined ? undefined : eq(hasEnded, workEnded),
        after === undefined ? undefined : sql`(${cases.openedAt}, ${cases.id}) > (${after.openedAt}, ${after.id})`,
      ),
    )
    .orderBy(asc(cases.openedAt), asc(cases.id))
    .limit(limit);
}

export async function findCase(db: Executor, id: string, owner: Owner): Promise<CaseOfWork | undefined> {
  const [row] = await db
    .select({ ...getTableColumns(cases), workStatus: workStatus(db) })
    .from(cases)
    .where(and(eq(cases.id, id), ownCases(db, owner)));
  return row;
}

/** Cases about work are resolved with the work. */
export async function dismissDeliveryCase(
  tx: Executor,
  { subjectId, reason }: CaseRow,
  dismissal: string,
  now: Date,
): Promise<void> {
  await closeCase(tx, { kind: 'delivery', id: subjectId }, reason, `dismissed: ${dismissal}`, now);
}
