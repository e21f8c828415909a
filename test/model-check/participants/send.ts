/** The request of a claimed send: its way to the service, and faults of worker and network. */
import type { Offer } from '#test/model-check/engine.ts';
import { conclude, retire } from '#test/model-check/participants/answer.ts';
import { FAULTS, type Context } from '#test/model-check/participants/database.ts';
import { buy, execute, knownByKey } from '#test/model-check/participants/service.ts';
import type { Answer, State, Worker } from '#test/model-check/state.ts';

/** Offers the actions of a worker with a claimed send. */
export function sendActions(state: State, context: Context, index: number, worker: Worker, offer: Offer): void {
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
      `${name} continues after its stall`,
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

/** Sends the request. After this, the service may buy. */
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
  // A request after its lease counts as late. The service processes it after a concurrent request with the same key.
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
      `the service executes the request of ${name} and answers`,
      onItself((next, itself) => answer(itself, executeRequest(next, dialect, itself))),
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
    `the service executes the request of ${name}, and the answer is lost`,
    (next, itself) => void executeRequest(next, dialect, itself),
  );
  fault(`the request of ${name} is lost`, () => {});
  if (state.late === 0)
    fault(
      `the request of ${name} is delayed beyond its deadline`,
      (next, itself) => void (next.late = requestOf(itself)),
    );
}

function executeRequest(state: State, dialect: Context['dialect'], { attempt, key, phase, clear }: Worker): Answer {
  return phase === 'executing' && clear ? buy(state, dialect, attempt, key) : execute(state, dialect, attempt, key);
}

function requestOf({ attempt, key }: Worker): number {
  return 1 + attempt * 2 + key;
}

function crashActions(state: State, index: number, worker: Worker, offer: Offer): void {
  const isInProgress = worker.phase === 'wire' || worker.phase === 'executing';
  const crash = (next: State) => {
    next.budget.faults -= 1;
    retire(next, index);
  };
  offer('fault', `worker ${index + 1} is killed${isInProgress ? ', and its request is lost' : ''}`, crash);
  if (!isInProgress || state.late !== 0) return;
  offer('fault', `worker ${index + 1} is killed, and its request arrives later`, (next) => {
    next.late = requestOf(worker);
    crash(next);
  });
}
