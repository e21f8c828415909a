/** A worker, frozen or cut off, records the step of a task that it has lost, after another one decided newer steps. */
import type { Offer } from '#test/model-check/engine.ts';
import {
  changeStatus,
  indexOf,
  isReportPending,
  isWorkFinal,
  mayHaveCost,
  type Context,
} from '#test/model-check/participants/database.ts';
import { offerFault } from '#test/model-check/participants/offers.ts';
import { workflowActions } from '#test/model-check/participants/workflow.ts';
import { lostStep, type LostStep, type State } from '#test/model-check/state.ts';

export function lostTaskActions(state: State, context: Context, offer: Offer): void {
  if (state.lost.status !== 'absent') {
    offer('fault', 'the worker records the step of the workflow task that it lost', (next) =>
      recordLate(next, context),
    );
    return;
  }
  if (state.budget.faults === 0) return;
  workflowActions(state, context, (_, sentence, change) => {
    const step = decided(state, change);
    if (step === undefined) return;
    offerFault(state, offer, `a worker loses the workflow task in which ${sentence}`, (next) => {
      Object.assign(next.lost, step);
    });
  });
}

/** The step that the workflow would record by an action; undefined if it would record none. */
function decided(state: State, change: (state: State) => void): LostStep | undefined {
  const copy = structuredClone(state);
  // With a lost step, a record is noted.
  copy.lost.status = 'accepted';
  copy.db.newer = false;
  change(copy);
  const { status, attention } = copy.db;
  if (!copy.db.newer || status === 'completed') return undefined;
  const { attempt, read } = copy.workflow;
  return { status, attention, attempt, read, isOfEarlierRun: false };
}

function recordLate(state: State, context: Context): void {
  const { db, saved, lost } = state;
  const { status, attention } = lost;
  if (status !== 'absent' && !isRefused(state, context)) changeStatus(state, status, attention);
  Object.assign(lost, lostStep());
  db.newer = false;
  saved.newer = false;
}

function isRefused({ db, lost }: State, { rules }: Context): boolean {
  const { status, attention, attempt, read } = lost;
  if (db.status === 'absent' || isWorkFinal(db) || rules.refusesLostStep(db.newer)) return true;
  if (status === 'failed') return db.contradiction || isReportPending(db, 0) || mayHaveCost(db);
  if (attention === 'none') return false;
  if (attention === 'contradiction') return !db.contradiction;
  return rules.caseNamesReadState && db.attempts[indexOf(attempt)].state !== read;
}
