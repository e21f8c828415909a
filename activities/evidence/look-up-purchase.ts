import { findMismatch } from '#activities/evidence/look-up.ts';
import type { WorkHandlers } from '#activities/purchases/work-handler.ts';
import { recordAnswer } from '#activities/sending/record-answer.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { PurchaseActivities } from '#activities/work/work-types.ts';
import { findAttemptById, lockAttemptRow } from '#db/attempts/attempts.ts';
import { lockUnfinishedWork } from '#db/work/work-rows.ts';
import { noteDrift } from '#fulfilment/gate/drift.ts';

/** Makes the activity that looks an attempt up at the service and stores the result. */
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
