import { and, count, eq, inArray } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { workTable } from '#db/work/kinds.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';

/**
 * Number of held purchases by failure class; classes without held work are absent. Work leaves when it continues, so
 * the counts show the state of the service without a call to it.
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
