import { costNothing } from '#domain/purchase/purchase-decision.ts';
import type { Offer } from '#test/model-check/engine.ts';
import {
  indexOf,
  isReportPending,
  isWorkFinal,
  mayHaveCost,
  openAttempt,
  recordReport,
  recordStatus,
  type Context,
} from '#test/model-check/participants/database.ts';
import { reload, enter, fromAttempt, WAITS } from '#test/model-check/participants/next-step.ts';
import { lookUp } from '#test/model-check/participants/service.ts';
import { walletEvidence } from '#test/model-check/participants/wallet.ts';
import { assumeSend, readRow, endRun, load } from '#test/model-check/participants/workflow-run.ts';
import type { State } from '#test/model-check/state.ts';

const CONTRADICTION = { step: 'open_case', reason: 'contradiction' } as const;

/** The steps of the workflow, except sends, which are in `worker.ts`. */
export function workflowActions(state: State, context: Context, offer: Offer): void {
  const { workflow, db } = state;
  if (workflow.run !== 'running') return;
  const { at } = workflow;
  if (at === 'begin') {
    if (db.status !== 'absent')
      offer('step', 'the workflow begins and reads the order', (next) => begin(next, context));
    return;
  }
  if (at === 'sending') return;
  if (WAITS.has(at) || at === 'look_up') {
    if (workflow.queue !== 0)
      offer('step', 'the workflow takes the report into account', (next) => answerReports(next, context));
    if (workflow.woken)
      offer('step', 'the workflow was woken and reads the order', (next) => reloadAfterWake(next, context));
    if (WAITS.has(at) && (workflow.queue !== 0 || workflow.woken)) return;
  }
  offerStep(state, context, offer);
}

function begin(state: State, context: Context): void {
  const { workflow } = state;
  if (workflow.first) {
    // An earlier try of the first task may have sent.
    if (!context.rules.provesNothingSent(workflow.epoch === state.epoch)) assumeSend(workflow);
    workflow.first = false;
  }
  if (!load(state, context)) return;
  // The new run takes the row over.
  state.db.newer ||= state.lost.isOfEarlierRun;
  enter(state, context, state.db.contradiction ? CONTRADICTION : fromAttempt(state, context));
}

function answerReports(state: State, context: Context): void {
  const { db, workflow } = state;
  const taken = db.rows.filter((_, place) => (workflow.queue & (1 << place)) !== 0);
  workflow.answered |= workflow.queue;
  workflow.queue = 0;
  if (db.status === 'absent' || isWorkFinal(db)) return void load(state, context);
  if (taken.some(({ decision }) => decision === 'contradiction')) return enter(state, context, CONTRADICTION);
  reload(state, context);
}

function reloadAfterWake(state: State, context: Context): void {
  const { workflow } = state;
  const hadContradiction = workflow.at === 'open_case' && state.db.contradiction;
  if (!load(state, context)) return;
  enter(state, context, hadContradiction ? CONTRADICTION : fromAttempt(state, context));
}

function offerStep({ workflow: { at } }: State, context: Context, offer: Offer): void {
  const step = (sentence: string, change: (next: State, context: Context) => void) =>
    offer('step', sentence, (next) => {
      if (next.db.status === 'absent' || isWorkFinal(next.db)) load(next, context);
      else change(next, context);
    });
  if (at === 'hold') {
    offer('step', 'the hold is over', (next) => void (next.workflow.at = 'send'));
    offer('step', 'the deadline of the order passes', (next) => void (next.workflow.at = 'fail'));
  }
  if (at === 'look_up') step('the workflow looks the attempt up at the service', lookUpAtService);
  if (at === 'await_service')
    offer('step', 'the service was silent for too long', (next) => void (next.workflow.at = 'look_up'));
  if (at === 'deliver') step('the eSIM is stored and the order is completed', deliver);
  if (at === 'settle') step('the wallet is read for the failed attempt', settle);
  if (at === 'open_next_attempt') step('a new attempt is opened', openNextAttempt);
  if (at === 'fail') step('the workflow lets the order fail', fail);
}

function lookUpAtService(state: State, context: Context): void {
  const attempt = indexOf(state.workflow.attempt);
  const found = state.db.attempts[attempt].state === 'absent' ? undefined : lookUp(state, context.dialect, attempt);
  if (found === undefined) return enter(state, context, { step: 'open_case', reason: 'outcome_unknown' });
  recordReport(state, attempt, found);
  reload(state, context);
}

function deliver(state: State, context: Context): void {
  const row = state.db.attempts[indexOf(state.workflow.attempt)];
  if (row.state !== 'completed') return reload(state, context);
  recordStatus(state, 'completed');
  endRun(state);
}

function settle(state: State, context: Context): void {
  const attempt = indexOf(state.workflow.attempt);
  const row = state.db.attempts[attempt];
  if (row.state !== 'failed') return reload(state, context);
  const evidence = walletEvidence(state, context.dialect, context.rules, attempt);
  if (costNothing(evidence)) {
    row.settled = true;
    return enter(state, context, { step: 'open_next_attempt' });
  }
  enter(state, context, {
    step: 'open_case',
    reason: evidence === 'debited' ? 'failed_but_charged' : 'evidence_unavailable',
  });
}

function openNextAttempt(state: State, context: Context): void {
  const { db, workflow } = state;
  if (db.compared !== state.epoch + 1) return reload(state, context);
  if (db.contradiction) return enter(state, context, CONTRADICTION);
  if (isReportPending(db, workflow.answered)) return;
  openAttempt(state, context, 1);
  workflow.attempt = 1;
  readRow(state);
  enter(state, context, fromAttempt(state, context));
}

function fail(state: State, context: Context): void {
  const { db, workflow } = state;
  if (db.compared !== state.epoch + 1) return reload(state, context);
  if (db.contradiction) return enter(state, context, CONTRADICTION);
  if (isReportPending(db, workflow.answered)) {
    if (workflow.queue !== 0) answerReports(state, context);
    return;
  }
  if (mayHaveCost(db)) return reload(state, context);
  recordStatus(state, 'failed');
  endRun(state);
}
