import type { Executor } from '#db/connection/database.ts';
import { countHeldWork } from '#db/work/held-work.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import type { Degradation } from '#telemetry/readiness.ts';

/**
 * What the service says of our account rather than of one purchase: none gets past it before somebody acts elsewhere.
 */
const ACCOUNT_CONDITIONS = [
  'not_approved',
  'unauthorized',
  'insufficient_balance',
] as const satisfies readonly FailureClass[];

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
