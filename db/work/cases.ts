import { and, eq, isNull, notInArray, or, sql, type SQL } from 'drizzle-orm';
import type { Write } from '#db/connection/alongside.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { cases } from '#db/schema.ts';
import type { Subject } from '#db/work/timeline.ts';
import { JUDGED_BY_PERSONS, type AttentionReason } from '#domain/work/attention.ts';

export type CaseRow = typeof cases.$inferSelect;

/**
 * Opens a case; an open case with the same reason is not changed.
 *
 * @param attemptId its attempt, if any.
 * @param product see {@link openCaseOfProduct}.
 * @returns true when it is new.
 */
export async function openCase(
  db: Executor,
  subject: Subject,
  reason: AttentionReason,
  detail: string,
  attemptId?: string,
  product?: number,
): Promise<boolean> {
  const rows = await db
    .insert(cases)
    .values({
      id: newId('case'),
      subjectKind: subject.kind,
      subjectId: subject.id,
      reason,
      attemptId: attemptId ?? null,
      product: product ?? null,
      detail,
    })
    .onConflictDoNothing()
    .returning({ id: cases.id });
  return rows.length > 0;
}

/**
 * Opens a case about a persistent finding: once for each reason and attempt, even after a person has closed it.
 *
 * @returns true when it is new.
 */
export async function openCaseOnce(
  db: Executor,
  subject: Subject,
  reason: AttentionReason,
  detail: string,
  attemptId: string | undefined,
): Promise<boolean> {
  const [known] = await db
    .select({ id: cases.id })
    .from(cases)
    .where(
      and(
        eq(cases.subjectKind, subject.kind),
        eq(cases.subjectId, subject.id),
        eq(cases.reason, reason),
        attemptId === undefined ? isNull(cases.attemptId) : eq(cases.attemptId, attemptId),
      ),
    )
    .limit(1);
  return known === undefined && (await openCase(db, subject, reason, detail, attemptId));
}

/**
 * Opens a case about a product that several pieces of work may show: one for each product and reason, and none with the
 * same detail after a person has closed it.
 *
 * @param product id of the package or plan.
 * @param detail names no work, so that the same difference has the same detail.
 * @returns true when it is new.
 */
export async function openCaseOfProduct(
  db: Executor,
  subject: Subject,
  product: number,
  reason: AttentionReason,
  detail: string,
  attemptId: string | undefined,
): Promise<boolean> {
  const [known] = await db
    .select({ id: cases.id })
    .from(cases)
    .where(
      and(
        eq(cases.subjectKind, subject.kind),
        eq(cases.product, product),
        eq(cases.reason, reason),
        or(isNull(cases.closedAt), eq(cases.detail, detail)),
      ),
    )
    .limit(1);
  return known === undefined && (await openCase(db, subject, reason, detail, attemptId, product));
}

/** The open case with this reason. */
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

/** The reasons of all open cases of a subject. */
export async function openReasons(db: Executor, subject: Subject): Promise<AttentionReason[]> {
  const rows = await db
    .select({ reason: cases.reason })
    .from(cases)
    .where(open(subject, sql`true`));
  return rows.map(({ reason }) => reason);
}

/** True while a case with this reason is open. */
export async function hasOpenCase(db: Executor, subject: Subject, reason: AttentionReason): Promise<boolean> {
  return (await findOpenCase(db, subject, reason)) !== undefined;
}

/**
 * Close the open cases of a subject when its work continues, except those that only a person can judge.
 *
 * @param resolution how it was resolved, as a sentence.
 */
export function closingCases(db: Executor, subject: Subject, resolution: string, now: Date): Write {
  return { statement: closing(db, subject, notInArray(cases.reason, [...JUDGED_BY_PERSONS]), resolution, now) };
}

/** Closes the open case with one reason after a verdict. @param resolution the verdict. */
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
