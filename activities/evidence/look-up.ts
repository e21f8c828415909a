import type { Inquiry } from '#activities/purchases/purchase-kind.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { Executor } from '#db/connection/database.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { WORK_NOUNS } from '#domain/work/work.ts';
import { recordFacts, serviceIdsOfOthers, workOf, type ServiceFacts } from '#fulfilment/attempts/attempts.ts';
import { lockUnfinishedWork, orderedInstead } from '#fulfilment/work/work.ts';

/** What the service has for an attempt cannot be what that attempt has bought. */
export interface NotOurs {
  readonly kind: 'not_ours';
  /** A sentence. */
  readonly detail: string;
}

/**
 * Holds what the service has for an attempt against what is known. @returns undefined when it may be what the attempt
 * has bought.
 */
export async function unlessOurs(db: Executor, attempt: AttemptRow, facts: ServiceFacts): Promise<NotOurs | undefined> {
  const taken = await unlessOfAnother(db, attempt, facts);
  if (taken !== undefined) return taken;
  const { productId } = facts;
  const ordered = await orderedInstead(db, workOf(attempt), productId);
  if (ordered === undefined) return undefined;
  const noun = attempt.subjectKind === 'vpn_subscription' ? 'plan' : 'package';
  const detail = `${has(attempt, facts)}, of ${noun} ${productId}, and ${noun} ${ordered} was ordered: somebody may have bought it by hand.`;
  return { kind: 'not_ours', detail };
}

/**
 * The part of {@link unlessOurs} that the answer to a send does not tell by itself: the client has held its product
 * against the request.
 */
export async function unlessOfAnother(
  db: Executor,
  attempt: AttemptRow,
  facts: ServiceFacts,
): Promise<NotOurs | undefined> {
  const { serviceId } = facts;
  if (serviceId === undefined || (await serviceIdsOfOthers(db, attempt, [serviceId])).size === 0) return undefined;
  return {
    kind: 'not_ours',
    detail: `${has(attempt, facts)}, which is that of another ${WORK_NOUNS[attempt.subjectKind]}.`,
  };
}

/** The beginning of a sentence. */
function has({ number }: AttemptRow, { serviceId }: ServiceFacts): string {
  return `The service has ${serviceId ?? 'something'} for attempt ${number}`;
}

/**
 * Asks the service for an attempt that it calls completed, since an event may name little of it, and stores what it
 * says.
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
  return database.transaction(async (tx) => {
    await lockUnfinishedWork(tx, workOf(attempt));
    const notOurs = await unlessOurs(tx, attempt, facts);
    if (notOurs !== undefined) return { attempt, inquiry: notOurs };
    return { attempt: await recordFacts(tx, attempt.id, facts, new Date(now())), inquiry };
  });
}
