/** Two workers: the claim of a send. Its request is in `send.ts`, its answer in `answer.ts`. */
import { isKnownToService } from '#domain/work/attempt-lifecycle.ts';
import { isResendAllowed } from '#test/model-check/dialects.ts';
import type { Offer } from '#test/model-check/engine.ts';
import {
  indexOf,
  isReportPending,
  isWorkFinal,
  moveAttempt,
  recordStatus,
  type Context,
} from '#test/model-check/participants/database.ts';
import { afterLostSend, reload } from '#test/model-check/participants/next-step.ts';
import { sendActions } from '#test/model-check/participants/send.ts';
import { endRun, forgetRead, isRowBehind, load } from '#test/model-check/participants/workflow-run.ts';
import type { State } from '#test/model-check/state.ts';

const MAX_SENDS = 3;

/** @returns true if the bound of sends excludes a claim. */
export function workerActions(state: State, context: Context, offer: Offer): boolean {
  const { workflow, workers } = state;
  let isCut = false;
  for (const index of [0, 1] as const) {
    const worker = workers[index];
    if (worker.phase === 'idle') {
      // Two idle workers are equal, so only the first one claims.
      if (index === 1 && workers[0].phase === 'idle') continue;
      isCut = firstClaimActions(state, context, index, offer) || isCut;
      isCut = claimActions(state, context, index, offer) || isCut;
    } else sendActions(state, context, index, worker, offer);
  }
  const isServed = workers.some(({ current, stalled }) => current && !stalled);
  if (workflow.run === 'running' && workflow.at === 'sending' && !isServed) {
    offer('step', 'Temporal gives the send up, and the workflow reads the order', (next) => giveUp(next, context));
  }
  return isCut;
}

/** The local activity that reads the order and sends its first attempt. Its claim compares the epoch of the start. */
function firstClaimActions(state: State, context: Context, index: 0 | 1, offer: Offer): boolean {
  const { workflow, db, epoch } = state;
  if (workflow.run !== 'running' || workflow.at !== 'begin' || !workflow.first) return false;
  const [{ state: attempt, sends }] = db.attempts;
  const isUntouched = (attempt === 'absent' || attempt === 'prepared') && sends === 0 && !isReportPending(db, 0);
  if (db.status === 'absent' || isWorkFinal(db) || db.contradiction || !isUntouched) return false;
  if (context.rules.firstSendComparesEpoch && workflow.epoch !== epoch) return false;
  if (state.budget.sends === 0) return true;
  offer('step', `the first task, in worker ${index + 1}, reads the order and claims send 1 of attempt 1`, (next) => {
    const { epoch: ofStart } = next.workflow;
    if (!load(next, context)) return;
    claim(next, index);
    forgetRead(next, ofStart);
  });
  return false;
}

function claimActions(state: State, context: Context, index: 0 | 1, offer: Offer): boolean {
  const { workflow, db } = state;
  if (workflow.run !== 'running' || workflow.at !== 'send' || workflow.queue !== 0 || workflow.woken) return false;
  const row = db.attempts[indexOf(workflow.attempt)];
  const isBehind = context.rules.claimChecksWitness && isRowBehind(state, context);
  if (
    db.status === 'absent' ||
    isWorkFinal(db) ||
    row.state === 'absent' ||
    isKnownToService(row.state) ||
    db.contradiction ||
    isBehind
  ) {
    offer('step', `worker ${index + 1} wants to send, and finds the order in another state`, (next) =>
      readOtherState(next, context),
    );
    return false;
  }
  if (isReportPending(db, workflow.answered)) return false;
  const decide = (isLeased: boolean) =>
    context.rules.sendClaim({
      ...row,
      state: row.state === 'absent' ? 'prepared' : row.state,
      isLeased,
      isNeverResent: row.neverResent,
      resendAllowed: isResendAllowed(context.dialect),
    });
  const decision = decide(row.leaseOn);
  const isAhead =
    decision === 'leased' && context.rules.leasesByWorkerClock && state.budget.faults > 0 && decide(false) === 'claim';
  if (decision === 'too_late') {
    offer('step', `worker ${index + 1} may not send again`, (next) => void (next.workflow.at = 'look_up'));
  }
  if (decision !== 'claim' && !isAhead) return false;
  if (state.budget.sends === 0) return true;
  const name = `worker ${index + 1}${isAhead ? ', whose clock is ahead,' : ''}`;
  const sentence = `${name} claims send ${row.sends + 1} of attempt ${workflow.attempt + 1}`;
  offer(isAhead ? 'fault' : 'step', sentence, (next) => {
    if (isAhead) next.budget.faults -= 1;
    claim(next, index);
  });
  return false;
}

function readOtherState(state: State, context: Context): void {
  const { workflow, db } = state;
  if (db.status === 'absent') workflow.at = 'begin';
  else if (isWorkFinal(db)) endRun(state);
  else reload(state, context);
}

function claim(state: State, index: 0 | 1): void {
  const { workflow, workers, budget } = state;
  const row = state.db.attempts[indexOf(workflow.attempt)];
  budget.sends -= 1;
  row.anyUnknown ||= row.state === 'sending';
  moveAttempt(state, row, 'claimed');
  row.sends = Math.min(MAX_SENDS, row.sends + 1);
  row.windowStarted = true;
  row.lease = index + 1;
  row.leaseOn = true;
  // A claim belongs to an activity and not to a workflow task.
  const { newer } = state.db;
  recordStatus(state, 'submitting');
  state.db.newer = newer;
  workflow.at = 'sending';
  state.left |= 1 << workflow.attempt;
  Object.assign(workers[index], { phase: 'claimed', attempt: workflow.attempt, key: row.key, current: true });
}

function giveUp(state: State, context: Context): void {
  for (const worker of state.workers) worker.current = false;
  if (state.workflow.first) state.workflow.at = 'begin';
  else afterLostSend(state, context);
}
