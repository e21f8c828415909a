import { and, count, eq, inArray } from 'drizzle-orm';
import { FAILURE_CLASSES, type FailureClass } from '#domain/failure.ts';
import type { Executor } from '#db/database.ts';
import { orders } from '#db/schema.ts';
import type { Degradation } from '#telemetry/readiness.ts';

/** What the service says of our account rather than of one order: no order gets past it before somebody acts elsewhere. */
export const ACCOUNT_CONDITIONS = ['not_approved', 'unauthorized', 'insufficient_balance'] as const satisfies readonly FailureClass[];

/**
 * How many orders are held for what the service last answered them, by class of failure; one that nothing is held for is
 * not in it. An order leaves when it goes on, so this is what is known of the service without asking it.
 */
export async function countHeldOrders(
  db: Executor,
  classes: readonly FailureClass[],
): Promise<ReadonlyMap<FailureClass, number>> {
  const rows = await db
    .select({ failure: orders.failureClass, held: count() })
    .from(orders)
    .where(and(eq(orders.status, 'held'), inArray(orders.failureClass, [...classes])))
    .groupBy(orders.failureClass);
  return new Map(rows.flatMap(({ failure, held }) => (failure === null ? [] : [[failure, held] as const])));
}

/** What holds purchases up although we are well, for readiness probes: each condition with what to do about it. */
export async function readAccountConditions(db: Executor): Promise<Degradation[]> {
  const held = await countHeldOrders(db, ACCOUNT_CONDITIONS);
  return ACCOUNT_CONDITIONS.flatMap((condition) => {
    const count = held.get(condition);
    if (count === undefined) return [];
    const { meaning, advice } = FAILURE_CLASSES[condition];
    return [{ condition, detail: `${meaning} ${count === 1 ? '1 order is' : `${count} orders are`} held for it. ${advice}` }];
  });
}
