/**
 * The next step of the workflow. This repeats decisions of the product's workflow code (`nextStep` of
 * `workflows/purchase/steps.ts`). `decideAfterSend`, `afterAcceptance` and the tables are the product's.
 */
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { afterAcceptance, decideAfterSend, type NextStep } from '#domain/purchase/purchase-decision.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { isResendAllowed } from '#test/model-check/dialects.ts';
import { FAULTS, indexOf, isWorkFinal, recordStatus, type Context } from '#test/model-check/participants/database.ts';
import { assumeSend, readRow, endRun, load } from '#test/model-check/participants/workflow-run.ts';
import type { AttemptRow, Attention, Position, State } from '#test/model-check/state.ts';

/** Maximum number of attempts in a trace. The product's limit is a setting. */
const ATTEMPTS_ALLOWED = 2;

/** Waits in which a report has priority. */
export const WAITS: ReadonlySet<Position> = new Set<Position>([
  'send',
  'hold',
  'await_service',
  'settle',
  'open_next_attempt',
  'open_case',
]);

type Step =
  | NextStep
  | { readonly step: 'open_case'; readonly reason: Attention }
  | { readonly step: 'open_next_attempt' };

/** The next step from a row, as `Purchase.nextStep` of the product. */
export function fromAttempt(state: State, context: Context): Step {
  const row = state.db.attempts[indexOf(state.workflow.attempt)];
  switch (row.state) {
    case 'absent':
    case 'prepared':
      return { step: 'send' };
    case 'sending':
    case 'unknown':
      return afterFailure(row, row.neverResent ? 'key_or_reference_used' : 'worker_lost', context);
    case 'refused':
      return afterFailure(row, 'insufficient_balance', context);
    case 'failed':
      return row.settled ? { step: 'open_next_attempt' } : afterAcceptance('failed');
    case 'processing':
    case 'completed':
      return afterAcceptance(row.state);
  }
}

const { purchase: POLICY } = DEFAULT_POLICY;

/** The next step after a failed send, by the product's rule. The only time is the end of the window. */
function afterFailure(row: AttemptRow, failure: FailureClass, { dialect }: Context): Step {
  const anyUnknown = row.anyUnknown || row.state === 'sending';
  const history = { firstSentAt: row.windowStarted ? 0 : undefined, sends: row.sends, holds: 0, anyUnknown };
  const now = row.windowOver ? POLICY.resendWindowMs + 1 : 0;
  const policy = { ...POLICY, resendAllowed: isResendAllowed(dialect) };
  return decideAfterSend({ kind: 'failure', failure }, history, policy, now);
}

/** Reads the work and enters its next step. */
export function reload(state: State, context: Context): void {
  if (load(state, context)) enter(state, context, fromAttempt(state, context));
}

/** Enters a step, and records its status as the product does. */
export function enter(state: State, context: Context, step: Step): void {
  const { db, workflow } = state;
  switch (step.step) {
    case 'wait_for_lease':
      workflow.at = 'send';
      return;
    case 'resend':
      recordStatus(state, 'submitting');
      workflow.at = 'send';
      return;
    case 'open_case':
      if (step.reason === 'contradiction' && !db.contradiction) reload(state, context);
      else openCase(state, context, step.reason);
      return;
    case 'open_next_attempt':
      if (workflow.attempt + 1 >= ATTEMPTS_ALLOWED) {
        workflow.at = 'fail';
        return;
      }
      break;
    default:
  }
  const status = STATUS_OF[step.step];
  if (status !== undefined) recordStatus(state, status);
  workflow.at = step.step;
}

/** The status that a step records when it begins. */
const STATUS_OF: Partial<Record<Step['step'], 'held' | 'processing'>> = {
  hold: 'held',
  await_service: 'processing',
  settle: 'processing',
  open_next_attempt: 'held',
};

function openCase(state: State, context: Context, reason: Attention): void {
  const { db, workflow } = state;
  const { dialect } = context;
  const row = db.attempts[indexOf(workflow.attempt)];
  // A case opens only if the attempt is still in the state that was read. A contradiction always opens one.
  if (reason !== 'contradiction' && context.rules.caseNamesReadState && row.state !== workflow.read)
    return reload(state, context);
  const isWindowOpen = (state.windowsOver & (1 << workflow.attempt)) === 0;
  const isUnnecessary =
    reason === 'outcome_unknown' &&
    row.state === 'unknown' &&
    row.windowOver &&
    isWindowOpen &&
    isResendAllowed(dialect) &&
    state.epoch === 0;
  recordStatus(state, 'needs_attention', reason);
  if (isUnnecessary) state.fault = FAULTS.needless_case;
  workflow.at = 'open_case';
}

/** The result of a send. @param failure undefined: the row has a report. @param maybe whether it may have bought. */
export function afterSend(state: State, context: Context, failure: FailureClass | undefined, maybe: boolean): void {
  const { db, workflow } = state;
  const row = db.attempts[indexOf(workflow.attempt)];
  const sends = context.rules.countsSendsItself ? workflow.sends + 1 : 0;
  workflow.first = false;
  readRow(state);
  workflow.sends = Math.max(sends, row.sends);
  workflow.maybe ||= maybe;
  if (isWorkFinal(db)) return endRun(state);
  const isSettled = row.state === 'processing' || row.state === 'completed' || row.state === 'failed';
  if (failure === undefined || isSettled) return enter(state, context, fromAttempt(state, context));
  enter(state, context, afterFailure(row, failure, context));
}

/** Temporal has given the send up: its worker was killed, or could not store the result. */
export function afterLostSend(state: State, context: Context): void {
  const { workflow } = state;
  const isSamePostgres = workflow.epoch === state.epoch;
  if (!context.rules.provesNothingSent(isSamePostgres)) assumeSend(workflow);
  workflow.at = 'begin';
  reload(state, context);
}
