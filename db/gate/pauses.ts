/** Queries of pauses. */
import { and, asc, desc, eq, isNull, lt } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { gatePauses } from '#db/schema.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

export type PauseRow = typeof gatePauses.$inferSelect;

/** Finds a pause, also one that has ended. */
export async function findPause(db: Executor, id: string): Promise<PauseRow | undefined> {
  const [found] = await db.select().from(gatePauses).where(eq(gatePauses.id, id));
  return found;
}

/** A page of pauses, newest first. @param filter.includeEnded also ended pauses. */
export async function listPauses(
  db: Executor,
  {
    kind,
    failureClass,
    includeEnded,
  }: {
    readonly kind: WorkKind | undefined;
    readonly failureClass: FailureClass | undefined;
    readonly includeEnded: boolean;
  },
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
): Promise<PauseRow[]> {
  return db
    .select()
    .from(gatePauses)
    .where(
      and(
        kind === undefined ? undefined : eq(gatePauses.kind, kind),
        failureClass === undefined ? undefined : eq(gatePauses.failureClass, failureClass),
        includeEnded ? undefined : isNull(gatePauses.releasedAt),
        after === undefined ? undefined : lt(gatePauses.id, after),
      ),
    )
    .orderBy(desc(gatePauses.id))
    .limit(limit);
}

/** Pauses in force, oldest first. */
export async function activePauses(db: Executor): Promise<PauseRow[]> {
  return db
    .select()
    .from(gatePauses)
    .where(isNull(gatePauses.releasedAt))
    .orderBy(asc(gatePauses.pausedAt), asc(gatePauses.id));
}
