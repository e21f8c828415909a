/** The request of a claimed send: its way to the service, and faults of worker and network. */
import type { Offer } from '#test/model-check/engine.ts';
import { conclude, retire } from '#test/model-check/participants/answer.ts';
import { FAULTS, type Context } from '#test/model-check/participants/database.ts';
import { offerFault } from '#test/model-check/participants/offers.ts';
import { buy, execute, knownByKey } from '#test/model-check/participants/service.ts';
import type { Answer, State, Worker } from '#test/model-check/state.ts';

const isInProgress = ({ phase }: Worker) => phase === 'wire' || phase === 'executing';

export function sendActions(state: State, context: Context, index: 0 | 1, worker: Worker, offer: Offer): void {
  const name = `worker ${index + 1}`;
  crashActions(state, index, worker, offer);
  if (!worker.stalled) offerFault(state, offer, `${name} stalls`, (next) => void (next.workers[index].stalled = true));
  if (isInProgress(worker)) requestActions(state, context, index, worker, offer);
  if (worker.stalled) {
    offer('step', `${name} continues after its stall`, (next) => void (next.workers[index].stalled = false));
  } else if (worker.phase === 'claimed') {
    if (context.rules.mayLeave(worker.over)) {
      offer('step', `the request of ${name} leaves`, (next) => leave(next, next.workers[index]));
    } else
      offer('step', `${name} finds its lease over and sends nothing`, (next) =>
        answer(next.workers[index], 'not_sent'),
      );
  } else if (worker.phase === 'answered') {
    offer('step', `${name} stores the answer: ${worker.answer.replace('_', ' ')}`, (next) =>
      conclude(next, context, index),
    );
  }
}

function answer(worker: Worker, what: Answer): void {
  worker.phase = 'answered';
  worker.answer = what;
}

/** Sends the request. After this, the service may buy. */
function leave(state: State, worker: Worker): void {
  const others = state.workers.filter((each) => each !== worker && each.attempt === worker.attempt);
  const isSending = others.some((other) => !other.over && isInProgress(other));
  const hasLost = worker.over && others.some((other) => other.phase === 'claimed' || isInProgress(other));
  if (isSending || hasLost) state.fault = FAULTS.two_sends;
  worker.phase = 'wire';
}

function requestActions(state: State, { dialect }: Context, index: 0 | 1, worker: Worker, offer: Offer): void {
  const name = `worker ${index + 1}`;
  // A request after its lease counts as late. The service processes it after a concurrent request with the same key.
  const isLate = worker.over && state.workers.some((each) => each !== worker && each.phase === 'executing');
  if (dialect.concurrent && worker.phase === 'wire' && !worker.over) {
    offer('step', `the service begins with the request of ${name}`, (next) => {
      const itself = next.workers[index];
      itself.clear = knownByKey(next, dialect, itself.attempt, itself.key) === undefined;
      itself.phase = 'executing';
    });
  } else if (!isLate) {
    offer('step', `the service executes the request of ${name} and answers`, (next) =>
      answer(next.workers[index], executeRequest(next, dialect, next.workers[index])),
    );
  }
  if (worker.phase === 'executing' || isLate) return;
  if (state.budget.refusals > 0) {
    offer('fault', `the service refuses the request of ${name}`, (next) => {
      next.budget.refusals -= 1;
      answer(next.workers[index], 'refused');
    });
  }
  const fault = (sentence: string, change: (next: State) => void) =>
    offerFault(state, offer, sentence, (next) => {
      change(next);
      answer(next.workers[index], 'nothing');
    });
  fault(
    `the service executes the request of ${name}, and the answer is lost`,
    (next) => void executeRequest(next, dialect, next.workers[index]),
  );
  fault(`the request of ${name} is lost`, () => {});
  if (state.late !== 0) return;
  fault(`the request of ${name} is delayed beyond its deadline`, (next) => void (next.late = requestOf(worker)));
}

function executeRequest(state: State, dialect: Context['dialect'], { attempt, key, phase, clear }: Worker): Answer {
  return phase === 'executing' && clear ? buy(state, dialect, attempt, key) : execute(state, dialect, attempt, key);
}

function requestOf({ attempt, key }: Worker): number {
  return 1 + attempt * 2 + key;
}

function crashActions(state: State, index: 0 | 1, worker: Worker, offer: Offer): void {
  const killed = `worker ${index + 1} is killed`;
  const crash = (next: State) => retire(next, index);
  offerFault(state, offer, `${killed}${isInProgress(worker) ? ', and its request is lost' : ''}`, crash);
  if (!isInProgress(worker) || state.late !== 0) return;
  offerFault(state, offer, `${killed}, and its request arrives later`, (next) => {
    next.late = requestOf(worker);
    crash(next);
  });
}
