/**
 * The workflow of the order: it reads, decides by the product's rules and records. Where the product's own workflow
 * code decides, in `PurchasePosition` and its neighbours, this is a second writing of it; `decideAfterSend`,
 * `afterAcceptance` and the tables are the product's.
 */
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { afterAcceptance, costNothing, decideAfterSend, type NextStep } from '#domain/purchase/purchase-decision.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { isResendAllowed } from '#test/model-check/dialects.ts';
import type { Offer } from '#test/model-check/engine.ts';
import {
  FAULTS,
  indexOf,
  isReportPending,
  isWorkFinal,
  mayBeBought,
  openAttempt,
  recordReport,
  recordStatus,
  type Context,
} from '#test/model-check/participants/database.ts';
import { debitsOf, lookUp } from '#test/model-check/participants/service.ts';
import { believe, endRun, load } from '#test/model-check/participants/workflow-run.ts';
import type { AttemptRow, Attention, Position, State } from '#test/model-check/state.ts';

/** How many attempts a trace may have; the product's own limit is a setting. */
const ATTEMPTS_ALLOWED = 2;

/** Waits that a report ends before anything else does. */
const WAITS: ReadonlySet<Position> = new Set<Position>(['send', 'hold', 'await_service', 'settle', 'buy_anew', 'park']);

type Step = NextStep | { readonly step: 'park'; readonly reason: Attention } | { readonly step: 'buy_anew' };

/** Where to go on from a row, as `PurchasePosition.fromAttempt`. */
function fromAttempt(state: State, context: Context): Step {
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
      return row.settled ? { step: 'buy_anew' } : afterAcceptance('failed');
    case 'processing':
    case 'completed':
      return afterAcceptance(row.state);
  }
}

const { purchase: POLICY } = DEFAULT_POLICY;

/** What follows a send that failed, by the product's rule; time is only whether the window is over. */
function afterFailure(row: AttemptRow, failure: FailureClass, { dialect }: Context): Step {
  const anyUnknown = row.anyUnknown || row.state === 'sending';
  const history = { firstSentAt: row.windowStarted ? 0 : undefined, sends: row.sends, holds: 0, anyUnknown };
  const now = row.windowOver ? POLICY.resendWindowMs + 1 : 0;
  const policy = { ...POLICY, resendAllowed: isResendAllowed(dialect) };
  return decideAfterSend({ kind: 'failure', failure }, history, policy, now);
}

/** Reads where the work stands and goes on from there. */
export function reload(state: State, context: Context): void {
  if (load(state, context)) enter(state, context, fromAttempt(state, context));
}

/** Goes to a step, and records what the product records when it gets there. */
function enter(state: State, context: Context, step: Step): void {
  const { db, workflow } = state;
  switch (step.step) {
    case 'send':
    case 'wait_for_lease':
      workflow.at = 'send';
      return;
    case 'hold':
      recordStatus(state, 'held');
      workflow.at = 'hold';
      return;
    case 'resend':
      recordStatus(state, 'submitting');
      workflow.at = 'send';
      return;
    case 'look_up':
      workflow.at = 'look_up';
      return;
    case 'await_service':
      recordStatus(state, 'processing');
      workflow.at = 'await_service';
      return;
    case 'deliver':
      workflow.at = 'deliver';
      return;
    case 'settle':
      recordStatus(state, 'processing');
      workflow.at = 'settle';
      return;
    case 'buy_anew':
      if (workflow.attempt + 1 >= ATTEMPTS_ALLOWED) return park(state, context, 'attempts_used_up');
      recordStatus(state, 'held');
      workflow.at = 'buy_anew';
      return;
    case 'fail':
      workflow.at = 'fail';
      return;
    case 'park':
      if (step.reason === 'contradiction' && !db.contradiction) return reload(state, context);
      park(state, context, step.reason);
  }
}

function park(state: State, context: Context, reason: Attention): void {
  const { db, workflow } = state;
  const { dialect } = context;
  const row = db.attempts[indexOf(workflow.attempt)];
  // A person is told by the state that was read, or not at all; of a contradiction whatever it is.
  if (reason !== 'contradiction' && context.rules.parkNamesState && row.state !== workflow.read)
    return reload(state, context);
  const isWindowOpen = (state.windowsOver & (1 << workflow.attempt)) === 0;
  const isNeedless =
    reason === 'outcome_unknown' &&
    row.state === 'unknown' &&
    row.windowOver &&
    isWindowOpen &&
    isResendAllowed(dialect) &&
    state.epoch === 0;
  recordStatus(state, 'needs_attention', reason);
  if (isNeedless) state.fault = FAULTS.needless_case;
  workflow.at = 'park';
}

/**
 * What a send came to, as the workflow learns it.
 *
 * @param failure undefined when the row holds what the service says. @param maybe whether the send may have bought.
 */
export function afterSend(state: State, context: Context, failure: FailureClass | undefined, maybe: boolean): void {
  const { db, workflow } = state;
  const row = db.attempts[indexOf(workflow.attempt)];
  const sends = context.rules.countsSendsItself ? workflow.sends + 1 : 0;
  believe(state);
  workflow.sends = Math.max(sends, row.sends);
  workflow.maybe ||= maybe;
  if (isWorkFinal(db)) return endRun(state);
  if (failure === undefined || isSettled(row.state)) return enter(state, context, fromAttempt(state, context));
  enter(state, context, afterFailure(row, failure, context));
}

function isSettled(state: AttemptRow['state']): state is Extract<AttemptState, 'processing' | 'completed' | 'failed'> {
  return state === 'processing' || state === 'completed' || state === 'failed';
}

/** The send was given up: its worker died, or could not store the result. */
export function afterLostSend(state: State, context: Context): void {
  const { workflow } = state;
  const isSamePostgres = workflow.epoch === state.epoch;
  if (!context.rules.provesNothingSent(isSamePostgres)) {
    workflow.maybe = true;
    workflow.sends += 1;
  }
  workflow.at = 'begin';
  reload(state, context);
}

/** The steps of the workflow that need no worker of their own; sending is in `worker.ts`. */
export function workflowActions(state: State, context: Context, offer: Offer): void {
  const { workflow, db } = state;
  if (workflow.run !== 'running') return;
  const { at } = workflow;
  if (at === 'begin') {
    if (db.status !== 'absent')
      offer('step', 'the workflow begins and reads where the order stands', (next) => begin(next, context));
    return;
  }
  if (at === 'sending') return;
  if (WAITS.has(at) || at === 'look_up') {
    if (workflow.queue !== 0)
      offer('step', 'the workflow takes the report into account', (next) => answerReports(next, context));
    if (workflow.acted)
      offer('step', 'the workflow was woken and reads where the order stands', (next) => lookAgain(next, context));
    if (WAITS.has(at) && (workflow.queue !== 0 || workflow.acted)) return;
  }
  offerStep(state, context, offer);
}

function begin(state: State, context: Context): void {
  if (!load(state, context)) return;
  if (state.db.contradiction) enter(state, context, { step: 'park', reason: 'contradiction' });
  else enter(state, context, fromAttempt(state, context));
}

function answerReports(state: State, context: Context): void {
  const { db, workflow } = state;
  const taken = db.rows.filter((_, place) => (workflow.queue & (1 << place)) !== 0);
  workflow.answered |= workflow.queue;
  workflow.queue = 0;
  if (db.status === 'absent' || isWorkFinal(db)) return void load(state, context);
  if (taken.some(({ decision }) => decision === 'contradiction'))
    return enter(state, context, { step: 'park', reason: 'contradiction' });
  reload(state, context);
}

function lookAgain(state: State, context: Context): void {
  const { workflow } = state;
  const wasParkedFor = workflow.at === 'park' && state.db.contradiction;
  if (!load(state, context)) return;
  if (wasParkedFor) enter(state, context, { step: 'park', reason: 'contradiction' });
  else enter(state, context, fromAttempt(state, context));
}

function offerStep({ workflow }: State, context: Context, offer: Offer): void {
  const unlessGone = (change: (state: State) => void) => (next: State) => {
    if (next.db.status === 'absent' || isWorkFinal(next.db)) load(next, context);
    else change(next);
  };
  switch (workflow.at) {
    case 'hold':
      offer('step', 'the hold is over', (next) => void (next.workflow.at = 'send'));
      offer('step', 'the deadline of the order passes', (next) => void (next.workflow.at = 'fail'));
      return;
    case 'look_up':
      offer(
        'step',
        'the workflow asks the service what became of the attempt',
        unlessGone((next) => askService(next, context)),
      );
      return;
    case 'await_service':
      offer('step', 'the service was silent for too long', (next) => void (next.workflow.at = 'look_up'));
      return;
    case 'deliver':
      offer(
        'step',
        'the eSIM is stored and the order is completed',
        unlessGone((next) => deliver(next, context)),
      );
      return;
    case 'settle':
      offer(
        'step',
        'the wallet is read for the failed attempt',
        unlessGone((next) => settle(next, context)),
      );
      return;
    case 'buy_anew':
      offer(
        'step',
        'a new attempt is opened',
        unlessGone((next) => buyAnew(next, context)),
      );
      return;
    case 'fail':
      offer(
        'step',
        'the workflow lets the order fail',
        unlessGone((next) => fail(next, context)),
      );
      return;
    case 'begin':
    case 'send':
    case 'sending':
    case 'park':
  }
}

function askService(state: State, context: Context): void {
  const attempt = indexOf(state.workflow.attempt);
  const found = state.db.attempts[attempt].state === 'absent' ? undefined : lookUp(state, context.dialect, attempt);
  if (found === undefined) return enter(state, context, { step: 'park', reason: 'outcome_unknown' });
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
  const evidence = !context.dialect.readableWallet
    ? 'unavailable'
    : debitsOf(state, attempt) > 0
      ? 'debited'
      : 'no_debit';
  if (costNothing(evidence)) {
    row.settled = true;
    return enter(state, context, { step: 'buy_anew' });
  }
  enter(state, context, {
    step: 'park',
    reason: evidence === 'debited' ? 'failed_but_charged' : 'evidence_unavailable',
  });
}

function buyAnew(state: State, context: Context): void {
  const { db, workflow } = state;
  if (db.contradiction) return enter(state, context, { step: 'park', reason: 'contradiction' });
  if (isReportPending(db, workflow.answered)) return;
  openAttempt(state, context, 1);
  workflow.attempt = 1;
  believe(state);
  enter(state, context, fromAttempt(state, context));
}

function fail(state: State, context: Context): void {
  const { db, workflow } = state;
  if (db.contradiction) return enter(state, context, { step: 'park', reason: 'contradiction' });
  if (isReportPending(db, workflow.answered)) {
    if (workflow.queue !== 0) answerReports(state, context);
    return;
  }
  if (mayBeBought(db)) return reload(state, context);
  recordStatus(state, 'failed');
  endRun(state);
}
