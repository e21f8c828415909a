import { allHandlersFinished, condition, setHandler } from '@temporalio/workflow';
import type { WorkEnd } from '#activities/work/work-types.ts';
import { backoffMs } from '#domain/policy/backoff.ts';
import { KINDS } from '#domain/work/work.ts';
import { finishedFailure, isMissing } from '#workflows/activity-failures.ts';
import {
  explainQuery,
  operatorActedSignal,
  rememberedQuery,
  serviceObservedSignal,
  type PurchaseWorkflowInput,
  type PurchaseWorkflowResult,
} from '#workflows/messages.ts';
import { ObservationQueue } from '#workflows/observations.ts';
import { HANDLER_DESCRIPTIONS } from '#workflows/operator/handler-descriptions.ts';
import { handleOperatorUpdates } from '#workflows/operator/operator-updates.ts';
import { Progress } from '#workflows/purchase/progress.ts';
import { PurchaseRun } from '#workflows/purchase/purchase-run.ts';
import { RunMemory } from '#workflows/purchase/run-memory.ts';
import { WAIT_NAMES } from '#workflows/purchase/wait-names.ts';
import { readWork } from '#workflows/purchase/work-records.ts';
import { WorkState, type RunContext } from '#workflows/purchase/work-state.ts';

/** What follows a purchase that ended well, where something lives on. */
type Afterwards = (context: RunContext, state: WorkState) => Promise<WorkEnd>;

/**
 * One purchase, from acceptance to its end; the body of every workflow that buys. The whole state is in PostgreSQL;
 * this is what moves it on, and may be terminated, reset or started anew at any point: it begins by reading where the
 * work stands.
 */
export async function purchase(input: PurchaseWorkflowInput, afterwards?: Afterwards): Promise<PurchaseWorkflowResult> {
  const { work } = input;
  const observations = new ObservationQueue();
  const progress = new Progress(work.kind, {
    status: 'submitting',
    now: `The ${KINDS[work.kind].noun} was accepted and is being sent to the service.`,
    next: 'The answer of the service.',
  });
  const acts = { count: input.carried?.isActedOn === true ? 1 : 0 };
  const memory = new RunMemory(input);

  // Before the first await: a signal may be in the first task already.
  const { serviceObserved, operatorActed, explain, remembered } = HANDLER_DESCRIPTIONS;
  setHandler(serviceObservedSignal, (observation) => observations.offer(observation), { description: serviceObserved });
  setHandler(operatorActedSignal, () => void (acts.count += 1), { description: operatorActed });
  setHandler(explainQuery, () => progress.explanation(), { description: explain });
  setHandler(rememberedQuery, () => memory.handedOn, { description: remembered });
  handleOperatorUpdates({ work, progress, acted: () => (acts.count += 1) });

  const end = await endOf(async () => {
    const snapshot = await readWork({ input, memory });
    const context = { input, snapshot, memory, observations, progress, acts };
    const state = new WorkState(context);
    state.showParked();
    const bought = snapshot.subscription?.isActive === true;
    const end: WorkEnd = bought ? { status: 'completed' } : await new PurchaseRun(context, state).run();
    return afterwards === undefined || end.status !== 'completed' ? end : afterwards(context, state);
  }, progress).catch((error: unknown) => {
    if (!isMissing(error) || memory.witness === undefined) throw error;
    return waitForRow({ input, memory, progress, acts });
  });
  await condition(allHandlersFinished);
  return { ...end, ...(memory.witness !== undefined && { witness: memory.witness }) };
}

/**
 * Work that has ended by other hands than this run's, perhaps before it began, is a result and not an error; it is
 * shown as it ended.
 */
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

/**
 * Waits in the open for a row that PostgreSQL has lost: what was sent for the work may have bought, and nothing else
 * knows of it. It goes on in a new run, which finds the row once its caller has asked again or a backup is restored.
 */
async function waitForRow({
  input,
  memory,
  progress,
  acts,
}: Pick<RunContext, 'input' | 'memory' | 'progress' | 'acts'>): Promise<never> {
  const { missingRowCheckMs, missingRowCheckMaxMs } = input.policy;
  const tries = (input.carried?.missing ?? 0) + 1;
  const delayMs = backoffMs(missingRowCheckMs, missingRowCheckMaxMs, tries);
  const witness = memory.witness;
  const sends =
    witness === undefined
      ? ''
      : ` It knows of attempt ${witness.number} with ${witness.sends} sends (${witness.state}).`;
  progress.show({
    status: 'needs_attention',
    now: `PostgreSQL has lost a row of this ${KINDS[input.work.kind].noun}; its workflow waits for it.${sends}`,
    next: 'It goes on when the row is there again: the caller asks again, or a backup is restored. Terminate it if the row will not come back.',
    attention: 'records_lost',
    nextStepAt: Date.now() + delayMs,
  });
  const seen = acts.count;
  await condition(() => acts.count > seen, delayMs, { summary: WAIT_NAMES.missingRow() });
  return memory.goOnInNewRun(() => ({ holds: 0, missing: tries }));
}
