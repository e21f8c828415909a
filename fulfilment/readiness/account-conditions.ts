import type { Executor } from '#db/connection/database.ts';
import { countHeldWork } from '#db/work/counts.ts';
import { counted } from '#domain/text.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import type { Degradation } from '#telemetry/probes.ts';

/** Failure classes about our account. They block every purchase until someone corrects them at the service. */
const ACCOUNT_CONDITIONS = [
  'not_approved',
  'unauthorized',
  'insufficient_balance',
] as const satisfies readonly FailureClass[];

/** Account problems that hold purchases, for the readiness probe; each with its advice. */
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
  return counted(count, 'purchase is held', 'purchases are held');
}
