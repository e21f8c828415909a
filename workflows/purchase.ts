import { allHandlersFinished, condition, setHandler } from '@temporalio/workflow';
import type { WorkEnd } from '#activities/work-types.ts';
import { WORK_NOUNS } from '#domain/work.ts';
import {
  explainQuery,
  operatorActedSignal,
  serviceObservedSignal,
  type PurchaseWorkflowInput,
  type PurchaseWorkflowResult,
} from '#workflows/messages.ts';
import { HANDLER_DESCRIPTIONS } from '#workflows/handler-descriptions.ts';
import { ObservationQueue } from '#workflows/observations.ts';
import { handleOperatorUpdates } from '#workflows/operator-updates.ts';
import { Progress } from '#workflows/progress.ts';
import { PurchaseRun } from '#workflows/purchase-run.ts';
import { database, finishedFailure, WorkState, type RunContext } from '#workflows/work-state.ts';

/** What follows a purchase that ended well, where something lives on. */
type Afterwards = (context: RunContext, state: WorkState) => Promise<WorkEnd>;

/**
 * One purchase, from acceptance to its end; the body of every workflow that buys. The whole state is in PostgreSQL; this
 * is what moves it on, and may be terminated, reset or started anew at any point: it begins by reading where the work stands.
 */
export async function purchase(input: PurchaseWorkflowInput, afterwards?: Afterwards): Promise<PurchaseWorkflowResult> {
  const { work } = input;
  const observations = new ObservationQueue();
  const progress = new Progress(work.kind, {
    status: 'submitting',
    now: `The ${WORK_NOUNS[work.kind]} was accepted and is being sent to the service.`,
    next: 'The answer of the service.',
  });
  const acts = { count: input.carried?.isActedOn === true ? 1 : 0 };

  // Before the first await: a signal may be in the first task already.
  const { serviceObserved, operatorActed, explain } = HANDLER_DESCRIPTIONS;
  setHandler(serviceObservedSignal, (observation) => observations.offer(observation), { description: serviceObserved });
  setHandler(operatorActedSignal, () => void (acts.count += 1), { description: operatorActed });
  setHandler(explainQuery, () => progress.explanation(), { description: explain });
  handleOperatorUpdates({ work, progress, acted: () => (acts.count += 1) });

  const end = await endOf(async () => {
    const snapshot = await database.beginWork({ work });
    const context = { input, snapshot, observations, progress, acts };
    const state = new WorkState(context);
    state.showParked();
    const bought = snapshot.subscription?.isActive === true;
    const end: WorkEnd = bought ? { status: 'completed' } : await new PurchaseRun(context, state).run();
    return afterwards === undefined || end.status !== 'completed' ? end : afterwards(context, state);
  }, progress);
  await condition(allHandlersFinished);
  return end;
}

/** Work that has ended by other hands than this run's, perhaps before it began, is a result and not an error; it is shown as it ended. */
async function endOf(run: () => Promise<WorkEnd>, progress: Progress): Promise<WorkEnd> {
  try {
    return await run();
  } catch (error) {
    const finished = finishedFailure(error);
    if (finished === undefined) throw error;
    const end = finished.details?.[0] as WorkEnd;
    progress.show({ status: end.status, now: `It has ended: ${end.status}.`, next: 'Nothing.' });
    return end;
  }
}
