/** The end of a send: its result is stored, and returned to the workflow. */
import type { FailureClass } from '#domain/work/failure.ts';
import { mayFollow } from '#domain/work/lifecycle.ts';
import {
  dropLease,
  forgetLeases,
  indexOf,
  moveAttempt,
  recordReport,
  type Context,
} from '#test/model-check/participants/database.ts';
import { afterLostSend, afterSend } from '#test/model-check/participants/next-step.ts';
import { hasMaybeBought } from '#test/model-check/participants/workflow-run.ts';
import { idleWorker, type Answer, type AttemptRow, type State } from '#test/model-check/state.ts';

/** The worker has no leases any more. After its restart it has another token. */
export function retire(state: State, index: 0 | 1): void {
  forgetLeases(state, index + 1);
  Object.assign(state.workers[index], idleWorker());
}

const FAILURES: Partial<Readonly<Record<Answer, FailureClass>>> = {
  refused: 'insufficient_balance',
  not_sent: 'not_sent',
  known: 'key_or_reference_used',
  nothing: 'timeout',
};

/** Stores the result of a send, and returns it to the workflow if the workflow still waits for it. */
export function conclude(state: State, context: Context, index: 0 | 1): void {
  const { db } = state;
  const { answer: got, attempt, current } = state.workers[index];
  const row = db.attempts[indexOf(attempt)];
  const isStored = db.status !== 'absent' && row.state !== 'absent';
  if (isStored) store(state, context, index, row, got, indexOf(attempt));
  const maybe = hasMaybeBought(row) || (context.rules.countsSendsItself && (got === 'nothing' || got === 'known'));
  retire(state, index);
  if (!current) return;
  // The activity fails like a lost one. If the order itself is lost, the workflow waits for its row.
  if (!isStored) return afterLostSend(state, context);
  afterSend(state, context, FAILURES[got], maybe);
}

function store(state: State, context: Context, index: number, row: AttemptRow, got: Answer, attempt: 0 | 1): void {
  const isOurs = row.lease === index + 1 && row.state === 'sending';
  const bit = 1 << attempt;
  switch (got) {
    case 'processing':
    case 'completed':
    case 'failed':
      recordServiceReport(state, context, index, row, got, attempt);
      return;
    case 'refused':
    case 'not_sent':
      if (!isOurs) return;
      if (!row.anyUnknown) {
        state.left &= ~bit;
        state.windowsOver &= ~bit;
      }
      moveAttempt(state, row, row.anyUnknown ? 'refused_after_unknown' : 'refused');
      if (!row.anyUnknown && !context.rules.refusalStartsWindow) row.windowStarted = false;
      if (!row.windowStarted) row.windowOver = false;
      dropLease(row);
      return;
    case 'known':
    case 'nothing':
    case 'none':
      if (!isOurs) return;
      moveAttempt(state, row, 'unproven');
      row.anyUnknown = true;
      row.neverResent = got === 'known';
      dropLease(row);
  }
}

/** As `recordAnswer` of the product. */
function recordServiceReport(
  state: State,
  { rules }: Context,
  index: number,
  row: AttemptRow,
  got: 'processing' | 'completed' | 'failed',
  attempt: 0 | 1,
): void {
  const { state: before, lease } = row;
  const { status } = state.db;
  recordReport(state, attempt, got);
  if (status === 'absent' || before === 'absent' || row.state === 'absent') return;
  const effect = rules.afterAnswer({ before, after: row.state, work: status, holdsLease: lease === index + 1 });
  if (effect.isInProgress) markProcessing(state);
  if (effect.wakes) state.db.wake = true;
}

/** The service has the purchase, so the hold or the case ends. */
function markProcessing({ db }: State): void {
  if (db.status === 'absent' || !mayFollow('order', db.status, 'processing')) return;
  db.status = 'processing';
  db.attention = 'none';
}
