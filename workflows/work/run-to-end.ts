import { allHandlersFinished, condition } from '@temporalio/workflow';
import { PURCHASE_POLICY } from '#domain/policy/purchase-policy.ts';
import { backoffMs } from '#domain/policy/settings.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { KINDS } from '#domain/work/kinds.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';
import { finishedFailure, isMissing } from '#workflows/activity-options.ts';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';
import { registerHandlers, type RunParts } from '#workflows/work/handlers.ts';
import { readWork } from '#workflows/work/work-records.ts';
import { WorkRun } from '#workflows/work/work-run.ts';

/**
 * The state of the work is in PostgreSQL. A run may be terminated, reset or started anew at any point: it begins with
 * a read and goes on from there.
 */
export async function runToEnd(
  started: PurchaseWorkflowInput,
  lifecycle: (run: WorkRun) => Promise<WorkEnd>,
): Promise<PurchaseWorkflowResult> {
  // A run that an earlier version has started lacks the settings of this one; a timer without a time fails its task.
  const input = { ...started, policy: { ...PURCHASE_POLICY, ...started.policy } };
  // Before the first await: the first task may hold a signal already.
  const parts = registerHandlers(input);
  const { memory } = parts;

  const end = await endOf(parts, async () => {
    const snapshot = await readWork(input.work, memory, true);
    const run = new WorkRun(parts, snapshot);
    showOpenCase(run);
    return lifecycle(run);
  });
  // An update that is still being handled would be lost with the end of the run.
  await condition(allHandlersFinished);
  return { ...end, ...(memory.witness !== undefined && { witness: memory.witness }) };
}

/** A search for cases then finds the run. */
function showOpenCase(run: WorkRun): void {
  const { status, attention, failure } = run;
  if (attention === undefined) return;
  const now = `Waits for a person. ${ATTENTION_REASONS[attention].meaning}`;
  run.show({ status, now, next: 'A person decides, or the service reports more.', failure, attention });
}

/** The work may end outside this run, as by an operator's abandon. */
async function endOf(parts: RunParts, run: () => Promise<WorkEnd>): Promise<WorkEnd> {
  try {
    return await run();
  } catch (error) {
    const finished = finishedFailure(error);
    if (finished !== undefined) {
      const end = finished.details?.[0] as WorkEnd;
      parts.progress.show({ status: end.status, now: `It has ended: ${end.status}.`, next: 'Nothing follows.' });
      return end;
    }
    if (isMissing(error) && parts.memory.witness !== undefined) return waitForRow(parts);
    throw error;
  }
}

/**
 * A request of this work may have bought, and only this run knows it. The row returns when its caller repeats the
 * request, or when a backup is restored.
 */
async function waitForRow({ input, memory, progress, actions }: RunParts): Promise<never> {
  const { missingRowCheckMs, missingRowCheckMaxMs } = input.policy;
  const tries = (input.carried?.missing ?? 0) + 1;
  const delayMs = backoffMs(missingRowCheckMs, missingRowCheckMaxMs, tries);
  const { witness } = memory;
  const sends =
    witness === undefined
      ? ''
      : ` It knows of attempt ${witness.number} with ${witness.sends} sends (${witness.state}).`;
  progress.show({
    status: 'needs_attention',
    now: `PostgreSQL has lost a row of this ${KINDS[input.work.kind].noun}; the workflow waits for it.${sends}`,
    next:
      'It continues when the row exists again: the caller repeats the request, or a backup is restored. ' +
      'Terminate the workflow if the row will not come back.',
    attention: 'records_lost',
    nextStepAt: Date.now() + delayMs,
  });
  const seen = actions.count;
  await condition(() => actions.count > seen, delayMs, { summary: WAIT_NAMES.missingRow() });
  return memory.continueAsNew(() => ({ holds: 0, missing: tries }));
}
