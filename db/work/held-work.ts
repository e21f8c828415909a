import { and, count, eq, inArray } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { workTable } from '#db/work/kinds.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';

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
