/** Breadth-first search over all reachable states with shortest traces, then a backward search over these states. */
import type { State } from '#test/model-check/state.ts';
import { Store } from '#test/model-check/store.ts';

/** A `fault` may happen. A `step` that stays possible happens at some time. */
type ActionKind = 'step' | 'fault';

/** Offers one action: a sentence without a full stop, and a function that changes the state. */
export type Offer = (kind: ActionKind, sentence: string, change: (state: State) => void) => void;

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

export const CAN_CONTINUE = 'progress is always possible unless a case is open';

/** Searches until all is visited, an invariant breaks, or there are `limit` states: the rest counts as progress. */
export function explore(machine: Machine, limit: number): Search {
  const store = new Store();
  machine.canonical(machine.initial);
  store.add(machine.initial, -1);
  /** For each state the states from which a step leads to it. */
  const before: number[][] = [];
  const rest: number[] = [];
  const state = structuredClone(machine.initial);
  const next = structuredClone(machine.initial);
  let transitions = 0;
  let at = 0;
  const result = (isComplete: boolean, invariant = '', broken?: number): Search => ({
    states: store.count,
    transitions,
    depth: store.depth,
    isComplete,
    counterexample: broken === undefined ? undefined : { invariant, trace: traceTo(machine, store, broken) },
  });
  for (; at < store.count && store.count < limit; at += 1) {
    store.read(at, state);
    const invariant = machine.violation(state);
    if (invariant !== undefined) return result(false, invariant, at);
    const isCut = machine.actions(state, (kind, _, change) => {
      store.read(at, next);
      change(next);
      machine.canonical(next);
      transitions += 1;
      const to = store.add(next, at);
      if (kind === 'step' && to !== at) (before[to] ??= []).push(at);
    });
    if (isCut || machine.isRest(state)) rest.push(at);
  }
  const isComplete = at === store.count;
  for (let unvisited = at; unvisited < store.count; unvisited += 1) rest.push(unvisited);
  return result(isComplete, CAN_CONTINUE, firstWithoutWayTo(rest, before, store.count));
}

/** The first state without a path to one of the goals. */
function firstWithoutWayTo(goals: readonly number[], before: readonly number[][], states: number): number | undefined {
  const reached = new Set(goals);
  // The set grows while it is read.
  for (const at of reached) for (const from of before[at] ?? []) reached.add(from);
  for (let at = 0; at < states; at += 1) if (!reached.has(at)) return at;
  return undefined;
}

/** Repeats the actions on the path to a state. @returns their sentences. */
function traceTo(machine: Machine, store: Store, index: number): string[] {
  let state = machine.initial;
  return store
    .wayTo(index)
    .slice(1)
    .map((to) => {
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
