import type { Executor } from '#db/connection/database.ts';
import { differingTotals, recountTotals, type TotalDifference } from '#db/gate/totals.ts';
import { spendDay } from '#domain/gate/purchase-gate.ts';

const DAY_MS = 86_400_000;

/**
 * Compares the running totals of the gate with their rows, for today, yesterday and the open reservations, and sets
 * them right.
 * @param now epoch milliseconds.
 * @returns the differences that were found: none, unless something has changed tables behind their triggers.
 */
export async function correctTotals(tx: Executor, now: number): Promise<TotalDifference[]> {
  const since = spendDay(now - DAY_MS);
  const differences = await differingTotals(tx, since);
  if (differences.length > 0) await recountTotals(tx, since);
  return differences;
}
