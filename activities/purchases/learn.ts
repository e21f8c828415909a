import { recordFacts, workOf, type AttemptRow } from '#db/attempts.ts';
import { lockUnfinishedWork } from '#db/work.ts';
import type { WorkDependencies } from '#activities/work-context.ts';
import type { Inquiry } from '#activities/purchases/kind.ts';

/**
 * Asks the service for an attempt that it calls completed, since an event may name little of it, and stores what it says.
 *
 * @throws WorkFinishedError when the work has ended meanwhile.
 * @returns the attempt as it now is, and what came of the inquiry.
 */
export async function learn<Found>(
  { database, now }: WorkDependencies,
  ask: (attempt: AttemptRow) => Promise<Inquiry<Found>>,
  attempt: AttemptRow,
): Promise<{ readonly attempt: AttemptRow; readonly inquiry: Inquiry<Found> }> {
  const inquiry = await ask(attempt);
  if (inquiry.kind !== 'found') return { attempt, inquiry };
  const { facts } = inquiry;
  const known = await database.transaction(async (tx) => {
    await lockUnfinishedWork(tx, workOf(attempt));
    return recordFacts(tx, attempt.id, facts, new Date(now()));
  });
  return { attempt: known, inquiry };
}
