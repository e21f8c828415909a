import { and, count, eq, inArray } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { workTable } from '#db/work/work-tables.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import { WORK_KINDS } from '#domain/work/work.ts';
import type { Degradation } from '#telemetry/readiness.ts';

/**
 * What the service says of our account rather than of one purchase: none gets past it before somebody acts elsewhere.
 */
export const ACCOUNT_CONDITIONS = [
  'not_approved',
  'unauthorized',
  'insufficient_balance',
] as const satisfies readonly FailureClass[];

/**
 * How many purchases are held for what the service last answered them, by class of failure; one that nothing is held
 * for is not in it. Work leaves when it goes on, so this is what is known of the service without asking it.
 */
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

/** What holds purchases up although we are well, for readiness probes: each condition with what to do about it. */
export async function readAccountConditions(db: Executor): Promise<Degradation[]> {
  const held = await countHeldWork(db, ACCOUNT_CONDITIONS);
  return ACCOUNT_CONDITIONS.flatMap((condition) => {
    const count = held.get(condition);
    if (count === undefined) return [];
    const { meaning, advice } = FAILURE_CLASSES[condition];
    return [{ condition, detail: `${meaning} ${heldPurchases(count)} for it. ${advice}` }];
  });
}

/** `1 purchase is held`, `2 purchases are held`. */
export function heldPurchases(count: number): string {
  return count === 1 ? '1 purchase is held' : `${count} purchases are held`;
}
