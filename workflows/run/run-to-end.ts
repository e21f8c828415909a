import { allHandlersFinished, condition, setHandler } from '@temporalio/workflow';
import { PURCHASE_POLICY } from '#domain/policy/purchase-policy.ts';
import { backoffMs } from '#domain/policy/settings.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';
import { HANDLER_DESCRIPTIONS } from '#workflows/handler-descriptions.ts';
import {
  explainQuery,
  memoryQuery,
  operatorActedSignal,
  serviceObservedSignal,
  type PurchaseWorkflowInput,
  type PurchaseWorkflowResult,
} from '#workflows/messages.ts';
import { handleOperatorUpdates } from '#workflows/operator-updates.ts';
import { finishedFailure, isMissing } from '#workflows/options.ts';
import type { PurchaseRules } from '#workflows/purchase/steps.ts';
import { explanationOf } from '#workflows/run/display.ts';
import { Run } from '#workflows/run/run.ts';
import { handedOn } from '#workflows/run/state.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

/**
 * The state of the work is in PostgreSQL. A run may be terminated, reset or started anew at any point: it begins with
 * a read and goes on from there.
 */
export async function runToEnd(
  started: PurchaseWorkflowInput,
  rules: PurchaseRules,
  lifecycle: (run: Run) => Promise<WorkEnd>,
): Promise<PurchaseWorkflowResult> {
  // A run that an earlier version has started lacks the settings of this one; a timer without a time fails its task.
  const run = new Run({ ...started, policy: { ...PURCHASE_POLICY, ...started.policy } }, rules);
  // Before the first await: the first task may hold a signal already.
  registerHandlers(run);
  const end = await endOf(run, lifecycle);
  // An update that is still being handled would be lost with the end of the run.
  await condition(allHandlersFinished);
  const { witness } = run.state;
  return { ...end, ...(witness !== undefined && { witness }) };
}

function registerHandlers(run: Run): void {
  const { serviceObserved, operatorActed, explain, memory } = HANDLER_DESCRIPTIONS;
  setHandler(serviceObservedSignal, (report) => run.receive(report), { description: serviceObserved });
  setHandler(operatorActedSignal, () => void (run.actions += 1), { description: operatorActed });
  setHandler(explainQuery, () => explanationOf(run.work, run.shown), { description: explain });
  setHandler(memoryQuery, () => handedOn(run.state, run.input.carried?.witness), { description: memory });
  handleOperatorUpdates(run);
}

/** The work may end outside this run, as by an operator's abandon. */
async function endOf(run: Run, lifecycle: (run: Run) => Promise<WorkEnd>): Promise<WorkEnd> {
  try {
    await run.read(true);
    showOpenCase(run);
    return await lifecycle(run);
  } catch (error) {
    const finished = finishedFailure(error);
    if (finished !== undefined) {
      const end = finished.details?.[0] as WorkEnd;
      run.showAlone({ status: end.status, now: `It has ended: ${end.status}.`, next: 'Nothing follows.' });
      return end;
    }
    const { witness, pendingSend } = run.state;
    if (isMissing(error) && (witness ?? pendingSend) !== undefined) return waitForRow(run);
    throw error;
  }
}

/** A search for cases then finds the run. */
function showOpenCase(run: Run): void {
  const { status, attention, failure } = run;
  if (attention === undefined) return;
  const now = `Waits for a person. ${ATTENTION_REASONS[attention].meaning}`;
  run.show({ status, now, next: 'A person decides, or the service reports more.', failure, attention });
}

/**
 * A request of this work may have bought, and only this run knows it. The row returns when its caller repeats the
 * request, or when a backup is restored.
 */
async function waitForRow(run: Run): Promise<never> {
  const { missingRowCheckMs, missingRowCheckMaxMs } = run.policy;
  const { missing = 0, witness } = run.state;
  const delayMs = backoffMs(missingRowCheckMs, missingRowCheckMaxMs, missing + 1);
  const sends =
    witness === undefined
      ? ''
      : ` It knows of attempt ${witness.number} with ${witness.sends} sends (${witness.state}).`;
  run.showAlone({
    status: 'needs_attention',
    now: `PostgreSQL has lost a row of this ${run.noun}; the workflow waits for it.${sends}`,
    next:
      'It continues when the row exists again: the caller repeats the request, or a backup is restored. ' +
      'Terminate the workflow if the row will not come back.',
    attention: 'records_lost',
    nextStepAt: Date.now() + delayMs,
  });
  const seen = run.actions;
  await condition(() => run.actions > seen, delayMs, { summary: WAIT_NAMES.missingRow() });
  return run.startOver(missing + 1);
}
