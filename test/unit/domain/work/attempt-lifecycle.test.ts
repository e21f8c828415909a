import { describe, expect, it } from 'vitest';
import { mayHaveCost } from '#domain/operator/operator-actions.ts';
import { ATTEMPT_DECISIONS, ATTEMPT_STATES, OBSERVED_OUTCOMES, type AttemptState } from '#domain/relay/observation.ts';
import {
  ATTEMPT_LIFECYCLE,
  attemptStateAfter,
  isKnownToService,
  MAY_BE_BOUGHT,
  type AttemptEvent,
} from '#domain/work/attempt-lifecycle.ts';

const EVENTS = Object.keys(ATTEMPT_LIFECYCLE) as AttemptEvent[];
const everything = ATTEMPT_STATES.flatMap((state) => EVENTS.map((event) => ({ state, event })));

/** The final reports of the service on an attempt. */
const ENDS: ReadonlySet<AttemptState> = new Set(['completed', 'failed']);
const SERVICE_HAS_IT: ReadonlySet<AttemptState> = new Set(['processing', 'completed', 'failed']);

/** Undefined for a forbidden event. */
function after(state: AttemptState, event: AttemptEvent): AttemptState | undefined {
  return ATTEMPT_LIFECYCLE[event][state] === 'forbidden' ? undefined : attemptStateAfter(state, event);
}

function reachableFrom(start: AttemptState, events: readonly AttemptEvent[]): Set<AttemptState> {
  const found = new Set<AttemptState>([start]);
  // The loop also visits states that are added while it runs.
  for (const state of found) {
    for (const event of events) found.add(after(state, event) ?? state);
  }
  return found;
}

/** The table a second time, as conditions. */
function meaning(state: AttemptState, event: AttemptEvent): AttemptState | 'forbidden' {
  switch (event) {
    case 'claimed':
      return SERVICE_HAS_IT.has(state) ? 'forbidden' : 'sending';
    // The result of a send changes only an attempt in sending. An unsent attempt has no result.
    case 'refused':
    case 'refused_after_unknown':
    case 'unproven':
      if (state === 'prepared') return 'forbidden';
      if (state !== 'sending') return state;
      return event === 'refused' ? 'refused' : 'unknown';
    // Reports of the service apply until the final one.
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
    // A row with lost commits proves no absence. Its reports of the service are true.
    case 'records_lost':
      return state === 'processing' || state === 'completed' ? state : 'unknown';
    case 'verdict_bought_undecided':
      return 'processing';
    case 'verdict_not_bought':
      return 'failed';
  }
}

describe('the lifecycle of an attempt', () => {
  it('equals the conditions of this file for every pair', () => {
    for (const { state, event } of everything)
      expect([state, event, after(state, event) ?? 'forbidden']).toEqual([state, event, meaning(state, event)]);
  });

  it('leads from every other state to both final states, also without an operator', () => {
    const byThemselves = EVENTS.filter((event) => !event.startsWith('verdict_'));
    for (const state of ATTEMPT_STATES.filter((each) => !ENDS.has(each))) {
      for (const end of ENDS) expect(reachableFrom(state, byThemselves), `${state} to ${end}`).toContain(end);
    }
  });

  it('forbids a send of an attempt that the service has', () => {
    expect(ATTEMPT_STATES.filter(isKnownToService)).toEqual([...SERVICE_HAS_IT]);
    for (const state of SERVICE_HAS_IT) {
      const error = new RangeError(`an attempt that is ${state} cannot be claimed`);
      expect(() => attemptStateAfter(state, 'claimed')).toThrow(error);
    }
  });

  it('may be bought in exactly the states that may have cost something when the books are settled', () => {
    const costly = ATTEMPT_STATES.filter((state) => mayHaveCost({ state, settled: true }));
    expect(MAY_BE_BOUGHT.toSorted()).toEqual(costly.toSorted());
  });

  it('changes by a report exactly when the report is new, and then to the reported state', () => {
    for (const state of ATTEMPT_STATES) {
      for (const outcome of OBSERVED_OUTCOMES) {
        const isNew = ATTEMPT_DECISIONS[state][outcome] === 'advance';
        expect(attemptStateAfter(state, outcome), `${state}, ${outcome}`).toBe(isNew ? outcome : state);
      }
    }
  });
});
