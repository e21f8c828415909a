/** One run of the workflow: its beginning and end, the reports it is told of, and what it knows beside its row. */
import type { Witness } from '#domain/purchase/restored-records.ts';
import {
  currentAttempt,
  indexOf,
  isWorkFinal,
  openAttempt,
  type Context,
} from '#test/model-check/participants/database.ts';
import { NOBODY, type AttemptRow, type State, type Workflow } from '#test/model-check/state.ts';

/**
 * A run begins, as after a start or a signal with start. @param withWitness a run before it has handed on what it knew.
 */
export function startRun({ workflow }: State, withWitness: boolean): void {
  workflow.run = 'running';
  workflow.at = 'begin';
  if (!withWitness) {
    workflow.attempt = 0;
    workflow.read = 'absent';
    workflow.sends = 0;
    workflow.maybe = false;
  }
  workflow.queue = 0;
  workflow.seen = 0;
  workflow.answered = 0;
  workflow.acted = false;
}

export function endRun({ workflow }: State): void {
  workflow.run = 'completed';
  workflow.at = 'begin';
  workflow.queue = 0;
  workflow.seen = 0;
  workflow.answered = 0;
  workflow.acted = false;
}

/** Signals that a report has come; one that this run has had counts once. */
export function offerReport({ workflow }: State, row: number): void {
  const bit = 1 << row;
  if ((workflow.seen & bit) !== 0) return;
  workflow.seen |= bit;
  workflow.queue |= bit;
}

/**
 * `beginWork`: reads where the work stands, and brings a row that knows less to what the workflow knows. @returns false
 * when the run is over, or must wait.
 */
export function load(state: State, context: Context): boolean {
  const { db, workflow } = state;
  if (db.status === 'absent') {
    workflow.at = 'begin';
    return false;
  }
  if (isWorkFinal(db)) {
    endRun(state);
    return false;
  }
  if (isRowBehind(state, context)) restore(state, context);
  if (currentAttempt(db) === undefined) openAttempt(state, context, 0);
  workflow.attempt = currentAttempt(db) ?? 0;
  believe(state);
  for (const [place, { state: at, decision }] of db.rows.entries()) {
    const isUnanswered = at === 'pending' || at === 'relayed';
    if (isUnanswered && (decision === 'advance' || decision === 'contradiction')) offerReport(state, place);
  }
  workflow.epoch = state.epoch;
  db.compared = state.epoch + 1;
  workflow.acted = false;
  return true;
}

/** What the workflow hands to the product's rule. A send that may have bought counts as one of unknown outcome. */
function witnessOf({ attempt, sends, maybe, read }: Workflow): Witness {
  const state =
    read === 'absent' || (maybe && (read === 'prepared' || read === 'refused'))
      ? maybe
        ? 'unknown'
        : 'prepared'
      : read;
  return { number: attempt + 1, state, sends, anyUnknown: maybe };
}

/** True when the row knows less of the attempt than the workflow. */
export function isRowBehind({ db, workflow }: State, { rules }: Context): boolean {
  const row = db.attempts[indexOf(workflow.attempt)];
  const record =
    row.state === 'absent' ? undefined : { number: workflow.attempt + 1, state: row.state, sends: row.sends };
  return rules.knowsLess(witnessOf(workflow), record);
}

export function hasMaybeBought({ anyUnknown, state }: AttemptRow): boolean {
  return anyUnknown || (state !== 'absent' && state !== 'prepared' && state !== 'refused');
}

/** The witness after reading a row: what it says of the attempt. */
export function believe({ db, workflow }: State): void {
  const row = db.attempts[indexOf(workflow.attempt)];
  workflow.read = row.state;
  workflow.sends = row.sends;
  workflow.maybe = hasMaybeBought(row);
}

/** The row gets what the workflow knows of it. */
function restore(state: State, context: Context): void {
  const { workflow } = state;
  const attempt = indexOf(workflow.attempt);
  if (attempt === 1) openAttempt(state, context, 0);
  const row = openAttempt(state, context, attempt);
  row.sends = Math.max(row.sends, workflow.sends);
  if (!workflow.maybe) return;
  row.anyUnknown = true;
  row.windowStarted = true;
  row.windowOver = (state.windowsOver & (1 << attempt)) !== 0;
  if (row.state === 'prepared' || row.state === 'refused') row.state = 'unknown';
  if (context.rules.restoredIsLeased && row.state === 'unknown') {
    row.lease = NOBODY;
    row.leaseOn = true;
  }
}
