/** What transactions of the product do to the rows of the order, by its own tables. */
import type { AttemptState } from '#domain/relay/observation.ts';
import { ATTEMPT_LIFECYCLE, attemptStateAfter, type AttemptEvent } from '#domain/work/attempt-lifecycle.ts';
import { isFinal, mayFollow } from '#domain/work/lifecycle.ts';
import type { Dialect } from '#test/model-check/dialects.ts';
import type { Rules } from '#test/model-check/rules.ts';
import {
  NOBODY,
  type Attention,
  type AttemptRow,
  type Database,
  type State,
  type Status,
} from '#test/model-check/state.ts';

/** What every participant goes by. */
export interface Context {
  readonly rules: Rules;
  readonly dialect: Dialect;
}

/** What an action does wrong, which no state shows afterwards; the values of `State.fault`. */
export const FAULTS = {
  none: 0,
  /** A request left although the sole right to send had passed to another worker. */
  two_sends: 1,
  /** A status or a state followed that may not follow. */
  forbidden: 2,
  /** A person is asked although the rules would still let the same bytes be sent again. */
  needless_case: 3,
} as const;

const MAY_BE_BOUGHT: ReadonlySet<string> = new Set<AttemptState>(['sending', 'unknown', 'processing', 'completed']);

export function isWorkFinal({ status }: Database): boolean {
  return status !== 'absent' && isFinal(status);
}

/** Index of the attempt that counts, as `currentAttempt` of the product finds it; undefined before the first. */
export function currentAttempt({ attempts: [first, second] }: Database): number | undefined {
  if (MAY_BE_BOUGHT.has(second.state)) return 1;
  if (MAY_BE_BOUGHT.has(first.state)) return 0;
  if (second.state !== 'absent') return 1;
  return first.state === 'absent' ? undefined : 0;
}

export function mayBeBought({ attempts }: Database): boolean {
  return attempts.some(({ state }) => MAY_BE_BOUGHT.has(state));
}

/** True while a report waits that nobody has answered. @param answered rows that this very step answers. */
export function isReportPending(db: Database, answered: number): boolean {
  return db.rows.some(
    ({ state }, row) => (state === 'pending' || state === 'relayed') && (answered & (1 << row)) === 0,
  );
}

/** Moves an attempt by the product's table. */
export function moveAttempt(state: State, row: AttemptRow, event: AttemptEvent): void {
  if (row.state === 'absent' || ATTEMPT_LIFECYCLE[event][row.state] === 'forbidden') {
    state.fault = FAULTS.forbidden;
    return;
  }
  row.state = attemptStateAfter(row.state, event);
}

/** What `recordReport` does with what the service says. */
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

/** Stores an attempt before its first send; one that exists stays as it is. */
export function openAttempt(state: State, { rules }: Context, attempt: 0 | 1): AttemptRow {
  const row = state.db.attempts[attempt];
  if (row.state !== 'absent') return row;
  row.state = 'prepared';
  const bit = 1 << attempt;
  // Two keys of one attempt are enough to show what a third would.
  row.key = rules.keysAreDerived || (state.keysMade & bit) === 0 ? 0 : 1;
  state.keysMade |= bit;
  for (const [place, report] of state.db.rows.entries()) {
    if (place >> 1 === attempt && report.state === 'unmatched') report.state = 'pending';
  }
  return row;
}

/** Moves the order on, with what the step answers. */
export function recordStatus(state: State, status: Exclude<Status, 'absent'>, attention: Attention = 'none'): void {
  const { db, workflow } = state;
  if (db.status === 'absent' || !mayFollow('order', db.status, status)) {
    state.fault = FAULTS.forbidden;
    return;
  }
  db.status = status;
  db.attention = attention;
  for (const [place, row] of db.rows.entries()) {
    if ((workflow.answered & (1 << place)) !== 0 && row.state !== 'absent') row.state = 'applied';
  }
  workflow.answered = 0;
  if (isFinal(status)) returnUnanswered(db);
}

/** Reports that a workflow was given and ended without answering are judged against the end. */
export function returnUnanswered(db: Database): void {
  for (const row of db.rows) {
    if (row.state !== 'relayed') continue;
    row.state = 'pending';
    row.decision = 'none';
    row.leased = false;
  }
}

/** A lease whose worker is gone is nobody's, also in the copy: a worker that starts anew has other tokens. */
export function forgetLeases(state: State, worker: number): void {
  for (const { attempts } of [state.db, state.saved])
    for (const row of attempts) if (row.lease === worker) row.lease = NOBODY;
}

/** The attempt of a number that comes from a state. */
export function indexOf(attempt: number): 0 | 1 {
  return attempt === 0 ? 0 : 1;
}
