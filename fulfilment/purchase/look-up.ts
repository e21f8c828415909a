import { workOf, findAttemptById, lockAttemptRow } from '#db/work/attempts.ts';
import { type AttemptRow, lockUnfinishedWork } from '#db/work/rows.ts';
import type { PurchaseActivities } from '#domain/purchase/results.ts';
import { recordReport, type NotOurs, findMismatch } from '#fulfilment/attempts/report.ts';
import { noteDrift } from '#fulfilment/gate/drift.ts';
import { recordAnswer } from '#fulfilment/purchase/answer.ts';
import type { LookUpResult, WorkHandlers, WorkDependencies } from '#fulfilment/purchase/handler.ts';

/**
 * For a completed attempt: an event may contain only a part of its facts. @throws WorkFinishedError when the work has
 * ended meanwhile.
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

export function createLookUp(
  { database, now }: WorkDependencies,
  handlers: WorkHandlers,
): PurchaseActivities['lookUpPurchase'] {
  return async ({ work, attemptId }) => {
    const attempt = await database.run((db) => findAttemptById(db, attemptId));
    const lookedUp = await handlers[work.kind].lookUp(attempt);
    if (lookedUp.kind === 'unavailable' && lookedUp.isOurs === true)
      await database.transaction(async (tx) => noteDrift(tx, attempt, lookedUp.failure.detail, now()));
    if (lookedUp.kind !== 'found') return lookedUp;
    const { facts } = lookedUp;
    return database.transaction(async (tx) => {
      const current = await lockUnfinishedWork(tx, work);
      const notOurs = await findMismatch(tx, attempt, facts);
      if (notOurs !== undefined)
        return { kind: 'unavailable', failure: { class: 'contract_drift', detail: notOurs.detail } };
      const locked = await lockAttemptRow(tx, attemptId);
      await recordAnswer(tx, { work, current, attempt: locked }, facts, new Date(now()), {
        event: 'attempt.found',
        message: `A look-up at the service shows attempt ${attempt.number} as ${facts.outcome}.`,
        detail: { attempt: attempt.number, service_id: facts.serviceId ?? null },
        dedupKey: `attempt.found:${attempt.number}:${facts.outcome}`,
      });
      return { kind: 'found', outcome: facts.outcome };
    });
  };
}
