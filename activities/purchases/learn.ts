import { isAsOrdered } from '#domain/observation.ts';
import { WORK_NOUNS } from '#domain/work.ts';
import { recordFacts, serviceIdsOfOthers, workOf, type AttemptRow, type ServiceFacts } from '#db/attempts.ts';
import type { Executor } from '#db/database.ts';
import { lockUnfinishedWork, orderedProduct } from '#db/work.ts';
import type { WorkDependencies } from '#activities/work-context.ts';
import type { Inquiry } from '#activities/purchases/kind.ts';

/** What the service has for an attempt cannot be what that attempt has bought. */
export interface NotOurs {
  readonly kind: 'not_ours';
  /** A sentence. */
  readonly detail: string;
}

/** Holds what the service has for an attempt against what is known. @returns undefined when it may be what the attempt has bought. */
export async function unlessOurs(db: Executor, attempt: AttemptRow, { serviceId, productId }: ServiceFacts): Promise<NotOurs | undefined> {
  const notOurs = (detail: string): NotOurs => ({ kind: 'not_ours', detail });
  const has = `The service has ${serviceId ?? 'something'} for attempt ${attempt.number}`;
  const isTaken = serviceId !== undefined && (await serviceIdsOfOthers(db, attempt, [serviceId])).size > 0;
  if (isTaken) return notOurs(`${has}, which is that of another ${WORK_NOUNS[attempt.subjectKind]}.`);
  const ordered = await orderedProduct(db, workOf(attempt));
  if (isAsOrdered(ordered, productId)) return undefined;
  const noun = attempt.subjectKind === 'vpn_subscription' ? 'plan' : 'package';
  return notOurs(`${has}, of ${noun} ${productId}, and ${noun} ${ordered} was ordered: somebody may have bought it by hand.`);
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
): Promise<{ readonly attempt: AttemptRow; readonly inquiry: Inquiry<Found> | NotOurs }> {
  const inquiry = await ask(attempt);
  if (inquiry.kind !== 'found') return { attempt, inquiry };
  const { facts } = inquiry;
  const notOurs = await database.run((db) => unlessOurs(db, attempt, facts));
  if (notOurs !== undefined) return { attempt, inquiry: notOurs };
  const known = await database.transaction(async (tx) => {
    await lockUnfinishedWork(tx, workOf(attempt));
    return recordFacts(tx, attempt.id, facts, new Date(now()));
  });
  return { attempt: known, inquiry };
}
