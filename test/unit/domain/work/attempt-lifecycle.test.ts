import { describe, expect, it } from 'vitest';
import { ATTEMPT_DECISIONS, ATTEMPT_STATES, OBSERVED_OUTCOMES, type AttemptState } from '#domain/relay/observation.ts';
import {
  ATTEMPT_EVENTS,
  ATTEMPT_LIFECYCLE,
  attemptStateAfter,
  isSettledByService,
  type AttemptEvent,
} from '#domain/work/attempt-lifecycle.ts';

const EVENTS = Object.keys(ATTEMPT_EVENTS) as AttemptEvent[];
const everything = ATTEMPT_STATES.flatMap((state) => EVENTS.map((event) => ({ state, event })));

/** The service's last words on an attempt. */
const ENDS: ReadonlySet<AttemptState> = new Set(['completed', 'failed']);
const SERVICE_HAS_IT: ReadonlySet<AttemptState> = new Set(['processing', 'completed', 'failed']);
const isVerdict = (event: AttemptEvent) => event.startsWith('verdict_');

/** Undefined where it must not happen. */
function after(state: AttemptState, event: AttemptEvent): AttemptState | undefined {
  return ATTEMPT_LIFECYCLE[event][state] === 'forbidden' ? undefined : attemptStateAfter(state, event);
}

function reachableFrom(start: AttemptState, events: readonly AttemptEvent[]): Set<AttemptState> {
  const found = new Set<AttemptState>([start]);
  // What is added while it is gone through is gone through as well.
  for (const state of found) {
    for (const event of events) found.add(after(state, event) ?? state);
  }
  return found;
}

/** The table once more, as sentences. */
function meaning(state: AttemptState, event: AttemptEvent): AttemptState | 'forbidden' {
  switch (event) {
    case 'claimed':
      return SERVICE_HAS_IT.has(state) ? 'forbidden' : 'sending';
    // What a send came to moves what is being sent, and nothing else; what was never sent came to nothing.
    case 'refused':
    case 'refused_after_unknown':
    case 'unproven':
      if (state === 'prepared') return 'forbidden';
      if (state !== 'sending') return state;
      return event === 'refused' ? 'refused' : 'unknown';
    // News of the service counts until its last word.
    case 'processing':
      return SERVICE_HAS_IT.has(state) ? state : 'processing';
    case 'completed':
    case 'failed':
      return ENDS.has(state) ? state : event;
    case 'delivered':
    case 'verdict_bought':
      return 'completed';
    case 'verdict_bought_unseen':
      return 'unknown';
    // A row that has lost commits denies nothing any more; what it knows of the service is true.
    case 'records_lost':
      return state === 'processing' || state === 'completed' ? state : 'unknown';
    case 'verdict_bought_undecided':
      return 'processing';
    case 'verdict_not_bought':
      return 'failed';
  }
}

describe('the life of an attempt', () => {
  it('decides every pair of state and event', () => {
    expect(everything).toHaveLength(7 * 13);
    expect(Object.keys(ATTEMPT_LIFECYCLE)).toEqual(EVENTS);
    for (const { state, event } of everything)
      expect([...ATTEMPT_STATES, 'unchanged', 'forbidden']).toContain(ATTEMPT_LIFECYCLE[event][state]);
  });

  it('is in every pair what the sentences of this file say', () => {
    expect(everything.map(({ state, event }) => ({ state, event, next: after(state, event) ?? 'forbidden' }))).toEqual(
      everything.map(({ state, event }) => ({ state, event, next: meaning(state, event) })),
    );
  });

  it('reaches every state from the first one, also without a person', () => {
    expect(reachableFrom('prepared', EVENTS)).toEqual(new Set(ATTEMPT_STATES));
    expect(
      reachableFrom(
        'prepared',
        EVENTS.filter((event) => !isVerdict(event)),
      ),
    ).toEqual(new Set(ATTEMPT_STATES));
  });

  it('has a way out of every state that is no end, to both ends and without a person', () => {
    const byThemselves = EVENTS.filter((event) => !isVerdict(event));
    for (const state of ATTEMPT_STATES.filter((each) => !ENDS.has(each))) {
      for (const end of ENDS) expect(reachableFrom(state, byThemselves), `${state} to ${end}`).toContain(end);
    }
  });

  it('leaves an end only by the word of a person, with what was bought in hands, or when its records are lost', () => {
    const others = EVENTS.filter((event) => !isVerdict(event) && event !== 'delivered' && event !== 'records_lost');
    for (const end of ENDS) expect(reachableFrom(end, others)).toEqual(new Set([end]));
  });

  it('leaves every state by the word of a person, in either direction', () => {
    for (const state of ATTEMPT_STATES) {
      expect([attemptStateAfter(state, 'verdict_bought'), attemptStateAfter(state, 'verdict_not_bought')]).toEqual([
        'completed',
        'failed',
      ]);
    }
  });

  it('never sends what the service has, and says so of each state', () => {
    expect(ATTEMPT_STATES.filter(isSettledByService)).toEqual([...SERVICE_HAS_IT]);
    for (const state of SERVICE_HAS_IT) {
      expect(() => attemptStateAfter(state, 'claimed')).toThrow(
        new RangeError(`an attempt that is ${state} cannot be claimed`),
      );
    }
  });

  it('never calls refused what an earlier send may have bought', () => {
    for (const state of ATTEMPT_STATES.filter((each) => each !== 'refused'))
      expect(after(state, 'refused_after_unknown')).not.toBe('refused');
  });

  it('has the same result from every state once it is delivered, so the storage need not read the state', () => {
    expect(new Set(ATTEMPT_STATES.map((state) => attemptStateAfter(state, 'delivered')))).toEqual(
      new Set(['completed']),
    );
  });

  it('changes its state by a report exactly where the report is new, and then to the reported state', () => {
    for (const state of ATTEMPT_STATES) {
      for (const outcome of OBSERVED_OUTCOMES) {
        const isNews = ATTEMPT_DECISIONS[state][outcome] === 'advance';
        expect(attemptStateAfter(state, outcome), `${state}, ${outcome}`).toBe(isNews ? outcome : state);
      }
    }
  });

  it('says in a sentence what each event is', () => {
    for (const sentence of Object.values(ATTEMPT_EVENTS)) expect(sentence).toMatch(/^[A-Z].*[^.]\.$/);
  });
});
