/** One run of the workflow: its beginning and end, the reports it receives, and its own record of the sends. */
import type { Witness } from '#domain/purchase/recovery.ts';
import {
  currentAttempt,
  indexOf,
  isWorkFinal,
  openAttempt,
  type Context,
} from '#test/model-check/participants/database.ts';
import { KILLED_WORKER, type AttemptRow, type State, type Workflow } from '#test/model-check/state.ts';

/** Begins a run, as after a start or signal-with-start. @param withWitness the run before has passed on its record. */
export function startRun({ db, workflow, lost, epoch }: State, withWitness: boolean): void {
  lost.isOfEarlierRun = lost.status !== 'absent';
  Object.assign(workflow, NOTHING_RECEIVED, { run: 'running' });
  if (withWitness) return;
  Object.assign(workflow, NOTHING_KNOWN);
  // No run has read the order yet.
  if (db.compared === 0) Object.assign(workflow, { first: true, epoch });
}

const NOTHING_KNOWN = { attempt: 0, read: 'absent', sends: 0, maybe: false };

/** The send of a first task: until the task ends, the run knows no more than its start. */
export function forgetRead({ workflow }: State, epoch: number): void {
  Object.assign(workflow, NOTHING_KNOWN, { epoch });
}

export function endRun({ workflow }: State): void {
  Object.assign(workflow, NOTHING_RECEIVED, { run: 'completed' });
}

const NOTHING_RECEIVED = { at: 'begin', queue: 0, seen: 0, answered: 0, woken: false, first: false };

/** Signals a report. A report that this run has received before is ignored. */
export function offerReport({ workflow }: State, row: number): void {
  const bit = 1 << row;
  if ((workflow.seen & bit) !== 0) return;
  workflow.seen |= bit;
  workflow.queue |= bit;
}

/** `beginWork`: reads the work, and restores a row that knows less. @returns false if the run has ended or waits. */
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
  readRow(state);
  for (const [place, { state: at, decision }] of db.rows.entries()) {
    const isUnanswered = at === 'pending' || at === 'relayed';
    if (isUnanswered && (decision === 'advance' || decision === 'contradiction')) offerReport(state, place);
  }
  workflow.epoch = state.epoch;
  db.compared = state.epoch + 1;
  workflow.woken = false;
  return true;
}

/** The workflow's record for the product's rule. A send that may have bought has an unknown outcome. */
function witnessOf({ attempt, sends, maybe, read }: Workflow): Witness {
  const state =
    read === 'absent' || (maybe && (read === 'prepared' || read === 'refused'))
      ? maybe
        ? 'unknown'
        : 'prepared'
      : read;
  return { number: attempt + 1, state, sends, anyUnknown: maybe };
}

/** True if the row knows less about the attempt than the workflow. */
export function isRowBehind({ db, workflow }: State, { rules }: Context): boolean {
  const row = db.attempts[indexOf(workflow.attempt)];
  const record =
    row.state === 'absent' ? undefined : { number: workflow.attempt + 1, state: row.state, sends: row.sends };
  return rules.knowsLess(witnessOf(workflow), record);
}

/** A send without a result may have bought. */
export function assumeSend(workflow: Workflow): void {
  workflow.maybe = true;
  workflow.sends += 1;
}

export function hasMaybeBought({ anyUnknown, state }: AttemptRow): boolean {
  return anyUnknown || (state !== 'absent' && state !== 'prepared' && state !== 'refused');
}

/** Sets the workflow's record of the attempt from the row. */
export function readRow({ db, workflow }: State): void {
  const row = db.attempts[indexOf(workflow.attempt)];
  workflow.read = row.state;
  workflow.sends = row.sends;
  workflow.maybe = hasMaybeBought(row);
}

/** Restores the row from the workflow's record. */
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
    row.lease = KILLED_WORKER;
    row.leaseOn = true;
  }
}
