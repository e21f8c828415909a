import { isAsOrdered } from '#domain/observation.ts';
import { recordFacts, workOf, type AttemptRow, type ServiceFacts } from '#db/attempts.ts';
import type { Executor } from '#db/database.ts';
import { lockUnfinishedWork, orderedProduct } from '#db/work.ts';
import type { WorkDependencies } from '#activities/work-context.ts';
import type { Inquiry } from '#activities/purchases/kind.ts';

/** What the service has for an attempt is not what was ordered. */
export interface NotAsOrdered {
  readonly kind: 'not_as_ordered';
  /** A sentence. */
  readonly detail: string;
}

/** Holds what the service has for an attempt against what was ordered. @returns undefined when it may be that. */
export async function unlessAsOrdered(db: Executor, attempt: AttemptRow, { serviceId, productId }: ServiceFacts): Promise<NotAsOrdered | undefined> {
  const ordered = await orderedProduct(db, workOf(attempt));
  if (isAsOrdered(ordered, productId)) return undefined;
  const noun = attempt.subjectKind === 'vpn_subscription' ? 'plan' : 'package';
  const has = `The service has ${serviceId ?? 'something'} for attempt ${attempt.number}, of ${noun} ${productId}, and ${noun} ${ordered} was ordered`;
  return { kind: 'not_as_ordered', detail: `${has}: somebody may have bought it by hand.` };
}

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
): Promise<{ readonly attempt: AttemptRow; readonly inquiry: Inquiry<Found> | NotAsOrdered }> {
  const inquiry = await ask(attempt);
  if (inquiry.kind !== 'found') return { attempt, inquiry };
  const { facts } = inquiry;
  const another = await database.run((db) => unlessAsOrdered(db, attempt, facts));
  if (another !== undefined) return { attempt, inquiry: another };
  const known = await database.transaction(async (tx) => {
    await lockUnfinishedWork(tx, workOf(attempt));
    return recordFacts(tx, attempt.id, facts, new Date(now()));
  });
  return { attempt: known, inquiry };
}
