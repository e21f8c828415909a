/** Queries of cases, and closing a case about a delivery. */
import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { ownCases, type Owner } from '#db/lists/ownership.ts';
import { cases } from '#db/schema.ts';
import { closeCase, type CaseRow } from '#db/work/cases.ts';
import type { AttentionReason } from '#domain/work/attention.ts';

/** Where a page ended; the next one starts after it. */
export interface CasePosition {
  readonly openedAt: Date;
  readonly id: string;
}

/** A page of open cases, oldest first. */
export async function listOpenCases(
  db: Executor,
  owner: Owner,
  options: {
    readonly limit: number;
    readonly reason?: AttentionReason | undefined;
    readonly after?: CasePosition | undefined;
  },
): Promise<CaseRow[]> {
  const { limit, reason, after } = options;
  return db
    .select()
    .from(cases)
    .where(
      and(
        isNull(cases.closedAt),
        ownCases(db, owner),
        reason === undefined ? undefined : eq(cases.reason, reason),
        after === undefined ? undefined : sql`(${cases.openedAt}, ${cases.id}) > (${after.openedAt}, ${after.id})`,
      ),
    )
    .orderBy(asc(cases.openedAt), asc(cases.id))
    .limit(limit);
}

/** A case, open or closed. @param owner restricts to work of this owner; undefined: all. */
export async function findCase(db: Executor, id: string, owner: Owner): Promise<CaseRow | undefined> {
  const [row] = await db
    .select()
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
