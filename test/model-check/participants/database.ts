/** Effects of the product's transactions on the rows of the order. They use the product's own tables. */
import type { AttemptState } from '#domain/relay/observation.ts';
import { ATTEMPT_LIFECYCLE, attemptStateAfter, type AttemptEvent } from '#domain/work/attempt-lifecycle.ts';
import { isFinal, mayFollow } from '#domain/work/lifecycle.ts';
import type { Dialect } from '#test/model-check/dialects.ts';
import type { Rules } from '#test/model-check/rules.ts';
import {
  KILLED_WORKER,
  type Attention,
  type AttemptRow,
  type Database,
  type State,
  type Status,
} from '#test/model-check/state.ts';

/** The rules and the service, for every participant. */
export interface Context {
  readonly rules: Rules;
  readonly dialect: Dialect;
}

/** Violations by an action that are not visible in the next state. The values of `State.fault`. */
export const FAULTS = {
  none: 0,
  /** A request left although another worker had the lease. */
  two_sends: 1,
  /** A forbidden change of a status or a state. */
  forbidden: 2,
  /** A case opened although the same bytes may be sent again. */
  needless_case: 3,
} as const;

const MAY_BE_BOUGHT: ReadonlySet<string> = new Set<AttemptState>(['sending', 'unknown', 'processing', 'completed']);

export function isWorkFinal({ status }: Database): boolean {
  return status !== 'absent' && isFinal(status);
}

/** Index of the current attempt, as `currentAttempt` of the product; undefined before the first. */
export function currentAttempt({ attempts: [first, second] }: Database): number | undefined {
  if (MAY_BE_BOUGHT.has(second.state)) return 1;
  if (MAY_BE_BOUGHT.has(first.state)) return 0;
  if (second.state !== 'absent') return 1;
  return first.state === 'absent' ? undefined : 0;
}

/** True while an attempt may have bought, or a failed one is not proven to have cost nothing. */
export function mayHaveCost({ attempts }: Database): boolean {
  return attempts.some(({ state, settled }) => MAY_BE_BOUGHT.has(state) || (state === 'failed' && !settled));
}

/** True while a report is not handled. @param answered rows that the present step handles. */
export function isReportPending(db: Database, answered: number): boolean {
  return db.rows.some(
    ({ state }, row) => (state === 'pending' || state === 'relayed') && (answered & (1 << row)) === 0,
  );
}

/** Changes the state of an attempt by the product's table. */
export function moveAttempt(state: State, row: AttemptRow, event: AttemptEvent): void {
  if (row.state === 'absent' || ATTEMPT_LIFECYCLE[event][row.state] === 'forbidden') {
    state.fault = FAULTS.forbidden;
    return;
  }
  row.state = attemptStateAfter(row.state, event);
}

/** Records a report of the service, as `recordReport` of the product. */
export function recordReport(state: State, attempt: 0 | 1, said: 'processing' | 'completed' | 'failed'): void {
  const row = state.db.attempts[attempt];
  const before = row.state;
  if (before === 'completed' && said === 'failed') state.db.contradiction = true;
  if (before === 'failed' && said === 'completed') state.db.contradiction = true;
  moveAttempt(state, row, said);
  if (row.state !== before) dropLease(row);
}

export function dropLease(row: AttemptRow): void {
  row.lease = 0;
  row.leaseOn = false;
}

/** Stores an attempt before its first send. An existing attempt is not changed. */
export function openAttempt(state: State, { rules }: Context, attempt: 0 | 1): AttemptRow {
  const row = state.db.attempts[attempt];
  if (row.state !== 'absent') return row;
  row.state = 'prepared';
  const bit = 1 << attempt;
  // Two keys of one attempt are enough to show the effect of any number.
  row.key = rules.keysAreDerived || (state.keysMade & bit) === 0 ? 0 : 1;
  state.keysMade |= bit;
  for (const [place, report] of state.db.rows.entries()) {
    if (place >> 1 === attempt && report.state === 'unmatched') report.state = 'pending';
  }
  return row;
}

/** Changes the status of the order. @returns false if the tables do not allow it. */
export function changeStatus(state: State, status: Exclude<Status, 'absent'>, attention: Attention = 'none'): boolean {
  const { db } = state;
  if (db.status === 'absent' || !mayFollow('order', db.status, status)) {
    state.fault = FAULTS.forbidden;
    return false;
  }
  db.status = status;
  db.attention = attention;
  return true;
}

/** Records a step of the workflow: its status, and the reports that it handles as applied. */
export function recordStatus(state: State, status: Exclude<Status, 'absent'>, attention: Attention = 'none'): void {
  const { db, workflow } = state;
  if (!changeStatus(state, status, attention)) return;
  db.newer = state.lost.status !== 'absent';
  for (const [place, row] of db.rows.entries()) {
    if ((workflow.answered & (1 << place)) !== 0 && row.state !== 'absent') row.state = 'applied';
  }
  workflow.answered = 0;
  if (isFinal(status)) returnUnanswered(db);
}

/** Reports that a workflow received and did not handle before its end are judged again. */
export function returnUnanswered(db: Database): void {
  for (const row of db.rows) {
    if (row.state === 'relayed') Object.assign(row, { state: 'pending', decision: 'none', leased: false });
  }
}

/** Gives the leases of a killed worker to no worker, also in the copy. A restarted worker has another token. */
export function forgetLeases(state: State, worker: number): void {
  for (const { attempts } of [state.db, state.saved])
    for (const row of attempts) if (row.lease === worker) row.lease = KILLED_WORKER;
}

/** Narrows a number of a state to the index of an attempt. */
export function indexOf(attempt: number): 0 | 1 {
  return attempt === 0 ? 0 : 1;
}
