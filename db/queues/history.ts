/** Deletion of old history: what explains ended work, not what proves its money. */
import { and, asc, eq, inArray, lt, notExists, sql, type SQL } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import type { Executor } from '#db/connection/database.ts';
import { auditLog, inbox, timeline } from '#db/schema.ts';
import { unfinished } from '#db/schema/columns.ts';
import { workTable } from '#db/work/kinds.ts';
import type { InboxState } from '#domain/relay/inbox-decision.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';

/** Which rows, and how many at most. */
interface Old {
  /** Deletes rows from before this time. */
  readonly before: Date;
  readonly batch: number;
}

/** The work that a row names has ended, or is none. */
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

/**
 * Deletes old timeline entries of ended work. Ids grow with time, so their index finds the oldest rows.
 * @returns how many; fewer than `batch` means that none are left.
 */
export async function forgetTimeline(db: Executor, { before, batch }: Old): Promise<number> {
  const old = db
    .select({ id: timeline.id })
    .from(timeline)
    .where(and(lt(timeline.at, before), hasEnded(db, timeline.subjectId)))
    .orderBy(asc(timeline.id))
    .limit(batch);
  return (await db.delete(timeline).where(inArray(timeline.id, old)).returning({ id: timeline.id })).length;
}

/** States of reports that nothing will process again. */
const SETTLED: InboxState[] = ['applied', 'replayed', 'ignored'];

/**
 * Deletes old processed reports of the service about ended work. A delivery is accepted only within minutes of its
 * signed time, so a repetition of a deleted one is refused.
 * @returns how many; fewer than `batch` means that none are left.
 */
export async function forgetReports(db: Executor, { before, batch }: Old): Promise<number> {
  const old = db
    .select({ id: inbox.id })
    .from(inbox)
    .where(and(lt(inbox.receivedAt, before), inArray(inbox.state, SETTLED), hasEnded(db, inbox.subjectId)))
    .orderBy(asc(inbox.id))
    .limit(batch);
  return (await db.delete(inbox).where(inArray(inbox.id, old)).returning({ id: inbox.id })).length;
}

/**
 * Deletes old entries of the audit log.
 * @returns how many; fewer than `batch` means that none are left.
 */
export async function forgetAudit(db: Executor, { before, batch }: Old): Promise<number> {
  const old = db
    .select({ id: auditLog.id })
    .from(auditLog)
    .where(lt(auditLog.at, before))
    .orderBy(asc(auditLog.id))
    .limit(batch);
  return (await db.delete(auditLog).where(inArray(auditLog.id, old)).returning({ id: auditLog.id })).length;
}
