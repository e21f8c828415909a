import { findAttemptById, lockAttempt } from '#db/work/attempts.ts';
import { lockUnfinishedWork } from '#db/work/rows.ts';
import type { AttemptRef, PurchaseLookUp } from '#domain/purchase/results.ts';
import { findMismatch } from '#fulfilment/attempts/report.ts';
import { noteDrift } from '#fulfilment/gate/drift.ts';
import { recordAnswer } from '#fulfilment/purchase/answer.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { SERVICE_CALLS } from '#fulfilment/purchase/kinds.ts';

export async function lookUpPurchase(
  dependencies: WorkDependencies,
  { work, attemptId }: AttemptRef,
): Promise<PurchaseLookUp> {
  const { database, now } = dependencies;
  const attempt = await database.run((db) => findAttemptById(db, attemptId));
  const lookedUp = await SERVICE_CALLS[work.kind].lookUp(dependencies, attempt);
  if (lookedUp.kind === 'unavailable' && lookedUp.isOurs === true)
    await database.transaction(async (tx) => noteDrift(tx, attempt, lookedUp.failure.detail, now()));
  if (lookedUp.kind !== 'found') return lookedUp;
  const { report } = lookedUp;
  return database.transaction(async (tx) => {
    const current = await lockUnfinishedWork(tx, work);
    const notOurs = await findMismatch(tx, attempt, report);
    if (notOurs !== undefined)
      return { kind: 'unavailable', failure: { class: 'contract_drift', detail: notOurs.detail } };
    const before = await lockAttempt(tx, attemptId);
    const entry = {
      event: 'attempt.found',
      message: `A look-up at the service shows attempt ${attempt.number} as ${report.outcome}.`,
      detail: { attempt: attempt.number, service_id: report.serviceId ?? null },
      dedupKey: `attempt.found:${attempt.number}:${report.outcome}`,
    };
    await recordAnswer(tx, { work, current, before, report, now: new Date(now()), entry });
    return { kind: 'found', outcome: report.outcome };
  });
}
