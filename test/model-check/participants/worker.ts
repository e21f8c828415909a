/** Two workers: the claim of a send, its request, its answer, and what may happen to the worker meanwhile. */
import { isSettledByService } from '#domain/work/attempt-lifecycle.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { mayFollow } from '#domain/work/lifecycle.ts';
import { isResendAllowed } from '#test/model-check/dialects.ts';
import type { Offer } from '#test/model-check/engine.ts';
import {
  dropLease,
  FAULTS,
  forgetLeases,
  indexOf,
  isReportPending,
  isWorkFinal,
  moveAttempt,
  recordReport,
  recordStatus,
  type Context,
} from '#test/model-check/participants/database.ts';
import { buy, execute, knownByKey } from '#test/model-check/participants/service.ts';
import { endRun, hasMaybeBought, isRowBehind } from '#test/model-check/participants/workflow-run.ts';
import { afterLostSend, afterSend, reload } from '#test/model-check/participants/workflow.ts';
import type { Answer, AttemptRow, State, Worker } from '#test/model-check/state.ts';

const MAX_SENDS = 3;

/** @returns true when the bound of sends hides a claim. */
export function workerActions(state: State, context: Context, offer: Offer): boolean {
  const { workflow, workers } = state;
  let isCut = false;
  for (const [index, worker] of workers.entries()) {
    if (worker.phase === 'idle') {
      // Two that are idle are the same.
      if (index === 0 || workers[0].phase !== 'idle') isCut = claimActions(state, context, index, offer) || isCut;
    } else sendActions(state, context, index, worker, offer);
  }
  const isServed = workers.some(({ current, stalled }) => current && !stalled);
  if (workflow.run === 'running' && workflow.at === 'sending' && !isServed) {
    offer('step', 'Temporal gives the send up, and the workflow reads where the order stands', (next) =>
      giveUp(next, context),
    );
  }
  return isCut;
}

function claimActions(state: State, context: Context, index: number, offer: Offer): boolean {
  const { workflow, db } = state;
  if (workflow.run !== 'running' || workflow.at !== 'send' || workflow.queue !== 0 || workflow.acted) return false;
  const row = db.attempts[indexOf(workflow.attempt)];
  const isBehind = context.rules.claimChecksWitness && isRowBehind(state, context);
  if (
    db.status === 'absent' ||
    isWorkFinal(db) ||
    row.state === 'absent' ||
    isSettledByService(row.state) ||
    db.contradiction ||
    isBehind
  ) {
    offer('step', `worker ${index + 1} wants to send, and finds the order elsewhere`, (next) =>
      findElsewhere(next, context),
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
  const which = `worker ${index + 1}${isAhead ? ', whose clock is ahead,' : ''} claims send ${row.sends + 1} of attempt ${workflow.attempt + 1}`;
  offer(isAhead ? 'fault' : 'step', which, (next) => {
    if (isAhead) next.budget.faults -= 1;
    claim(next, index);
  });
  return false;
}

function findElsewhere(state: State, context: Context): void {
  const { workflow, db } = state;
  if (db.status === 'absent') workflow.at = 'begin';
  else if (isWorkFinal(db)) endRun(state);
  else reload(state, context);
}

function claim(state: State, index: number): void {
  const { workflow, workers, budget } = state;
  const row = state.db.attempts[indexOf(workflow.attempt)];
  const worker = workers[index];
  if (worker === undefined) return;
  budget.sends -= 1;
  row.anyUnknown ||= row.state === 'sending';
  moveAttempt(state, row, 'claimed');
  row.sends = Math.min(MAX_SENDS, row.sends + 1);
  row.windowStarted = true;
  row.lease = index + 1;
  row.leaseOn = true;
  recordStatus(state, 'submitting');
  workflow.at = 'sending';
  state.left |= 1 << workflow.attempt;
  worker.phase = 'claimed';
  worker.attempt = workflow.attempt;
  worker.key = row.key;
  worker.current = true;
}

function giveUp(state: State, context: Context): void {
  for (const worker of state.workers) worker.current = false;
  afterLostSend(state, context);
}

function sendActions(state: State, context: Context, index: number, worker: Worker, offer: Offer): void {
  const name = `worker ${index + 1}`;
  const onItself = (change: (next: State, itself: Worker) => void) => (next: State) => {
    const itself = next.workers[index];
    if (itself !== undefined) change(next, itself);
  };
  const mayFault = state.budget.faults > 0;
  if (mayFault) {
    crashActions(state, index, worker, offer);
    if (!worker.stalled)
      offer(
        'fault',
        `${name} stalls`,
        onItself((next, itself) => stall(next, itself)),
      );
  }
  if (worker.phase === 'wire' || worker.phase === 'executing')
    requestActions(state, context, name, worker, offer, onItself);
  if (worker.stalled) {
    offer(
      'step',
      `${name} goes on after its stall`,
      onItself((_, itself) => void (itself.stalled = false)),
    );
    return;
  }
  if (worker.phase === 'claimed') {
    if (context.rules.mayLeave(worker.over))
      offer(
        'step',
        `the request of ${name} leaves`,
        onItself((next, itself) => leave(next, itself)),
      );
    else
      offer(
        'step',
        `${name} finds its lease over and sends nothing`,
        onItself((_, itself) => answer(itself, 'not_sent')),
      );
  }
  if (worker.phase === 'answered') {
    const sentence = `${name} stores the answer: ${worker.answer.replace('_', ' ')}`;
    offer(
      'step',
      sentence,
      onItself((next, itself) => conclude(next, context, index, itself)),
    );
  }
}

function stall(state: State, worker: Worker): void {
  worker.stalled = true;
  state.budget.faults -= 1;
}

function answer(worker: Worker, what: Answer): void {
  worker.phase = 'answered';
  worker.answer = what;
}

/** From here on the service may buy. */
function leave(state: State, worker: Worker): void {
  const others = state.workers.filter((each) => each !== worker && each.attempt === worker.attempt);
  const isSending = others.some(({ phase, over }) => !over && (phase === 'wire' || phase === 'executing'));
  const hasLost =
    worker.over && others.some(({ phase }) => phase === 'claimed' || phase === 'wire' || phase === 'executing');
  if (isSending || hasLost) state.fault = FAULTS.two_sends;
  worker.phase = 'wire';
}

type OnItself = (change: (next: State, itself: Worker) => void) => (next: State) => void;

function requestActions(
  state: State,
  { dialect }: Context,
  name: string,
  worker: Worker,
  offer: Offer,
  onItself: OnItself,
): void {
  // What comes later than a lease is taken for late: of two with one key at the very same moment the service judges one
  // first.
  const isLate = worker.over && state.workers.some((each) => each !== worker && each.phase === 'executing');
  if (dialect.concurrent && worker.phase === 'wire' && !worker.over) {
    offer(
      'step',
      `the service begins with the request of ${name}`,
      onItself((next, itself) => {
        itself.clear = knownByKey(next, dialect, itself.attempt, itself.key) === undefined;
        itself.phase = 'executing';
      }),
    );
  } else if (!isLate) {
    offer(
      'step',
      `the service carries the request of ${name} out and answers`,
      onItself((next, itself) => answer(itself, carryOut(next, dialect, itself))),
    );
  }
  if (worker.phase === 'executing' || isLate) return;
  if (state.budget.refusals > 0) {
    offer(
      'fault',
      `the service refuses the request of ${name}`,
      onItself((next, itself) => {
        next.budget.refusals -= 1;
        answer(itself, 'refused');
      }),
    );
  }
  if (state.budget.faults === 0) return;
  const fault = (sentence: string, change: (next: State, itself: Worker) => void) =>
    offer(
      'fault',
      sentence,
      onItself((next, itself) => {
        next.budget.faults -= 1;
        change(next, itself);
        answer(itself, 'nothing');
      }),
    );
  fault(
    `the service carries the request of ${name} out, and the answer is lost`,
    (next, itself) => void carryOut(next, dialect, itself),
  );
  fault(`the request of ${name} is lost`, () => {});
  if (state.late === 0)
    fault(
      `the request of ${name} is delayed beyond its deadline`,
      (next, itself) => void (next.late = requestOf(itself)),
    );
}

function carryOut(state: State, dialect: Context['dialect'], { attempt, key, phase, clear }: Worker): Answer {
  return phase === 'executing' && clear ? buy(state, dialect, attempt, key) : execute(state, dialect, attempt, key);
}

function requestOf({ attempt, key }: Worker): number {
  return 1 + attempt * 2 + key;
}

function crashActions(state: State, index: number, worker: Worker, offer: Offer): void {
  const isUnderWay = worker.phase === 'wire' || worker.phase === 'executing';
  const crash = (next: State) => {
    next.budget.faults -= 1;
    retire(next, index);
  };
  offer('fault', `worker ${index + 1} is killed${isUnderWay ? ', and its request is lost' : ''}`, crash);
  if (!isUnderWay || state.late !== 0) return;
  offer('fault', `worker ${index + 1} is killed, and its request arrives later`, (next) => {
    next.late = requestOf(worker);
    crash(next);
  });
}

/** The worker holds no rows any more; a new start has another token. */
function retire(state: State, index: number): void {
  forgetLeases(state, index + 1);
  Object.assign(state.workers[index] ?? {}, {
    phase: 'idle',
    attempt: 0,
    key: 0,
    answer: 'none',
    stalled: false,
    current: false,
    over: false,
    clear: false,
  });
}

const FAILURES: Readonly<Record<Answer, FailureClass | undefined>> = {
  none: undefined,
  processing: undefined,
  completed: undefined,
  failed: undefined,
  refused: 'insufficient_balance',
  not_sent: 'not_sent',
  known: 'key_or_reference_used',
  nothing: 'timeout',
};

/** Stores what a send came to, and tells the workflow, if it still waits for it. */
function conclude(state: State, context: Context, index: number, { answer: got, attempt, current }: Worker): void {
  const { db } = state;
  const row = db.attempts[indexOf(attempt)];
  const isStored = db.status !== 'absent' && row.state !== 'absent';
  if (isStored) store(state, context, index, row, got, indexOf(attempt));
  const maybe = hasMaybeBought(row) || (context.rules.countsSendsItself && (got === 'nothing' || got === 'known'));
  retire(state, index);
  if (!current) return;
  if (!isStored) {
    // The activity fails, as one that was lost; where the order itself is gone it waits to be there again.
    afterLostSend(state, context);
    return;
  }
  afterSend(state, context, FAILURES[got], maybe);
}

function store(state: State, context: Context, index: number, row: AttemptRow, got: Answer, attempt: 0 | 1): void {
  const isOurs = row.lease === index + 1 && row.state === 'sending';
  const bit = 1 << attempt;
  switch (got) {
    case 'processing':
    case 'completed':
    case 'failed':
      storeEsimState(state, context, index, row, got, attempt);
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

/** As `recordAnswer`. */
function storeEsimState(
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

/** The service has it: what the order was held or parked for is over. */
function markProcessing({ db }: State): void {
  if (db.status === 'absent' || !mayFollow('order', db.status, 'processing')) return;
  db.status = 'processing';
  db.attention = 'none';
}
