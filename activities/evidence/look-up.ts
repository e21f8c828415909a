import type { LookUpResult } from '#activities/purchases/work-handler.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';
import { serviceIdsOfOthers, workOf } from '#db/attempts/attempts.ts';
import type { Executor } from '#db/connection/database.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { lockUnfinishedWork } from '#db/work/work-rows.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { orderedInstead } from '#fulfilment/attempts/ordered-product.ts';
import { recordReport, type AttemptReport } from '#fulfilment/attempts/record-report.ts';

/** The record of the service cannot be what this attempt has bought. */
export interface NotOurs {
  readonly kind: 'not_ours';
  /** A sentence. */
  readonly detail: string;
}

/**
 * Compares the service's record for an attempt with our own rows.
 *
 * @returns why the record cannot be of this attempt; undefined when it may be.
 */
export async function findMismatch(
  db: Executor,
  attempt: AttemptRow,
  facts: AttemptReport,
): Promise<NotOurs | undefined> {
  const { serviceId, productId } = facts;
  if (serviceId !== undefined && (await serviceIdsOfOthers(db, attempt, [serviceId])).size > 0)
    return belongsToAnother(attempt, facts);
  const ordered = await orderedInstead(db, workOf(attempt), productId);
  if (ordered === undefined) return undefined;
  const noun = KINDS[attempt.subjectKind].productNoun;
  const detail =
    `${has(attempt, facts)}, of ${noun} ${productId}, and ${noun} ${ordered} was ordered: it may have ` +
    'been bought by hand.';
  return { kind: 'not_ours', detail };
}

/**
 * The part of {@link findMismatch} that also applies to the answer of a send: its service id belongs to another
 * attempt. The client has already compared the product of such an answer with the request.
 */
export function belongsToAnother(attempt: AttemptRow, facts: AttemptReport): NotOurs {
  const detail = `${has(attempt, facts)}, which belongs to another ${KINDS[attempt.subjectKind].noun}.`;
  return { kind: 'not_ours', detail };
}

/** The beginning of a sentence. */
function has({ number }: AttemptRow, { serviceId }: AttemptReport): string {
  return `The service has ${serviceId ?? 'something'} for attempt ${number}`;
}

/**
 * Looks an attempt up that the service calls completed, and stores the facts of its record. An event may contain only a
 * part of them.
 *
 * @returns the attempt as it now is, and the result of the look-up.
 * @throws WorkFinishedError when the work has ended meanwhile.
 */
export async function lookUpAndStore<Found>(
  { database, now }: WorkDependencies,
  lookUp: (attempt: AttemptRow) => Promise<LookUpResult<Found>>,
  attempt: AttemptRow,
): Promise<{ readonly attempt: AttemptRow; readonly lookedUp: LookUpResult<Found> | NotOurs }> {
  const lookedUp = await lookUp(attempt);
  if (lookedUp.kind !== 'found') return { attempt, lookedUp };
  const { facts } = lookedUp;
  return database.transaction(async (tx) => {
    await lockUnfinishedWork(tx, workOf(attempt));
    const notOurs = await findMismatch(tx, attempt, facts);
    if (notOurs !== undefined) return { attempt, lookedUp: notOurs };
    return { attempt: await recordReport(tx, attempt.id, facts, new Date(now())), lookedUp };
  });
}
