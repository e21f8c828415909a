/** Breadth-first search over all reachable states with shortest traces, then a backward search over these states. */
import { sizeOf } from '#test/model-check/codec.ts';
import { Edges } from '#test/model-check/edges.ts';
import type { State } from '#test/model-check/state.ts';
import { Store } from '#test/model-check/store.ts';

/** A `fault` may happen. A `step` that stays possible happens at some time. */
type ActionKind = 'step' | 'fault';

/** Offers one action: a sentence without a full stop, and a function that changes the state. */
export type Offer = (kind: ActionKind, sentence: string, change: (state: State) => void) => void;

/** The machine to search. */
export interface Machine {
  readonly initial: State;
  /** Offers every possible action. @returns true if a bound of the run has excluded an action. */
  actions(state: State, offer: Offer): boolean;
  /** Gives states that differ only in the numbers of workers or relays the same form. */
  canonical(state: State): void;
  /** @returns the broken invariant, if any. */
  violation(state: State): string | undefined;
  /** True if no further step is required. */
  isRest(state: State): boolean;
}

/** A broken invariant, with the actions that lead there. */
export interface Counterexample {
  readonly invariant: string;
  readonly trace: readonly string[];
}

export interface Search {
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  readonly counterexample: Counterexample | undefined;
  /** False if the limit of states ended the search. */
  readonly isComplete: boolean;
}

/** The invariant of the backward search. */
export const CAN_CONTINUE = 'progress is always possible unless a case is open';

/**
 * Searches until all states are visited, an invariant breaks, or there are `limit` states. After that limit, an
 * unvisited state counts as progress.
 */
export function explore(machine: Machine, limit: number): Search {
  const store = new Store(sizeOf(machine.initial), machine.initial);
  machine.canonical(machine.initial);
  store.add(machine.initial, -1);
  const edges = new Edges();
  const rest: boolean[] = [];
  const state = store.blank();
  const next = store.blank();
  let transitions = 0;
  let at = 0;
  for (; at < store.count && store.count < limit; at += 1) {
    store.read(at, state);
    const invariant = machine.violation(state);
    if (invariant !== undefined) {
      return {
        ...sizes(store, transitions),
        isComplete: false,
        counterexample: { invariant, trace: traceTo(machine, store, at) },
      };
    }
    const isCut = machine.actions(state, (kind, _, change) => {
      store.read(at, next);
      change(next);
      machine.canonical(next);
      transitions += 1;
      const to = store.add(next, at);
      if (kind === 'step' && to !== at) edges.add(at, to);
    });
    rest.push(isCut || machine.isRest(state));
  }
  const isComplete = at === store.count;
  while (rest.length < store.count) rest.push(true);
  const stuck = edges.firstWithoutWayTo(rest);
  const counterexample =
    stuck === undefined ? undefined : { invariant: CAN_CONTINUE, trace: traceTo(machine, store, stuck) };
  return { ...sizes(store, transitions), isComplete, counterexample };
}

function sizes(store: Store, transitions: number): Pick<Search, 'states' | 'transitions' | 'depth'> {
  return { states: store.count, transitions, depth: store.depth };
}

/** Repeats the actions on the path to a state. @returns their sentences. */
function traceTo(machine: Machine, store: Store, index: number): string[] {
  const way: number[] = [];
  for (let at = index; at >= 0; at = store.parent(at)) way.unshift(at);
  let state = machine.initial;
  return way.slice(1).map((to) => {
    const found: { sentence: string; next: State }[] = [];
    // Without `canonical`, so that a worker keeps its number in the whole trace.
    machine.actions(state, (_, sentence, change) => {
      const next = structuredClone(state);
      change(next);
      const form = structuredClone(next);
      machine.canonical(form);
      if (found.length === 0 && store.find(form) === to) found.push({ sentence, next });
    });
    const [step] = found;
    if (step === undefined) throw new Error('a state on the way cannot be reached again');
    state = step.next;
    return step.sentence;
  });
}
