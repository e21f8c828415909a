import { describe, expect, it } from 'vitest';
import {
  ATTEMPT_DECISIONS,
  ATTEMPT_STATES,
  FINISHED_DECISIONS,
  isAsOrdered,
  judgeObservation,
  judgeSubscriptionEnd,
  OBSERVED_OUTCOMES,
  SUBSCRIPTION_ENDS,
  type ObservationDecision,
  type ObservedOutcome,
  type ObservedWork,
} from '#domain/relay/observation.ts';
import { FINAL_STATUSES, isFinal, WORK_STATUSES } from '#domain/work/lifecycle.ts';

const everything = WORK_STATUSES.flatMap((status) =>
  ATTEMPT_STATES.flatMap((attemptState) =>
    OBSERVED_OUTCOMES.flatMap((outcome) =>
      [true, false].map((latestAttempt) => ({ work: { status, attemptState, latestAttempt }, outcome })),
    ),
  ),
);

/** Both tables a second time, as conditions. */
function meaning({ status, attemptState, latestAttempt }: ObservedWork, outcome: ObservedOutcome): ObservationDecision {
  const opposite = (said: ObservedOutcome) => (said === 'completed' ? 'failed' : 'completed');
  // A final report on an attempt stays. The opposite contradicts it, and anything else is known.
  if (attemptState === 'failed') return outcome === opposite(attemptState) ? 'contradiction' : 'known';
  if (isFinal(status)) {
    const bought = status !== 'failed' && status !== 'abandoned' && status !== 'refused';
    return bought === (outcome !== 'failed') ? 'known' : 'contradiction';
  }
  if (attemptState === 'completed') return outcome === opposite(attemptState) ? 'contradiction' : 'known';
  if (attemptState === 'processing' && outcome === 'processing') return 'known';
  // A new report advances the latest attempt, and contradicts the failure of an earlier one.
  return latestAttempt ? 'advance' : 'contradiction';
}

describe('the decision about an observation', () => {
  it('exists for every work status, attempt state and outcome', () => {
    expect(everything).toHaveLength(WORK_STATUSES.length * 7 * 3 * 2);
    for (const { work, outcome } of everything) {
      expect(['advance', 'known', 'contradiction']).toContain(judgeObservation(work, outcome));
    }
  });

  it('equals the conditions of this file', () => {
    expect(
      everything.map(({ work, outcome }) => ({ ...work, outcome, decision: judgeObservation(work, outcome) })),
    ).toEqual(everything.map(({ work, outcome }) => ({ ...work, outcome, decision: meaning(work, outcome) })));
  });

  it('knows two ends of a subscription', () => {
    expect([...SUBSCRIPTION_ENDS]).toEqual(['cancelled', 'expired']);
  });

  it('with an additional end is new only for open work with a known attempt and without an earlier end', () => {
    for (const { work, outcome } of everything) {
      for (const end of SUBSCRIPTION_ENDS) {
        const plain = meaning(work, outcome);
        const expected = plain === 'known' && !isFinal(work.status) ? 'advance' : plain;
        expect(judgeObservation(work, outcome, judgeSubscriptionEnd(undefined, end))).toBe(expected);
        expect(judgeObservation(work, outcome, judgeSubscriptionEnd(end, end))).toBe(plain);
      }
    }
  });

  it('with a contradiction after the purchase is a contradiction, for any purchase report', () => {
    for (const { work, outcome } of everything)
      expect(judgeObservation(work, outcome, 'contradiction')).toBe('contradiction');
  });

  it('never advances ended work', () => {
    const ended = everything.filter(({ work }) => isFinal(work.status));
    expect(ended.map(({ work, outcome }) => judgeObservation(work, outcome))).not.toContain('advance');
  });

  it('never advances an earlier attempt, because two would be bought', () => {
    const earlier = everything.filter(({ work }) => !work.latestAttempt);
    expect(earlier.map(({ work, outcome }) => judgeObservation(work, outcome))).not.toContain('advance');
  });

  it('is known for the same event a second time', () => {
    for (const outcome of OBSERVED_OUTCOMES) {
      expect(judgeObservation({ status: 'processing', attemptState: outcome, latestAttempt: true }, outcome)).toBe(
        'known',
      );
    }
    expect(judgeObservation({ status: 'completed', attemptState: 'completed', latestAttempt: true }, 'completed')).toBe(
      'known',
    );
  });

  it('is known for processing after the end of its attempt', () => {
    for (const attemptState of ['completed', 'failed'] as const) {
      expect(judgeObservation({ status: 'processing', attemptState, latestAttempt: true }, 'processing')).toBe('known');
    }
  });

  it.each([
    ['failed', 'failed', 'completed'],
    ['failed', 'refused', 'completed'],
    ['failed', 'refused', 'processing'],
    ['completed', 'completed', 'failed'],
    ['abandoned', 'unknown', 'completed'],
    ['processing', 'failed', 'completed'],
    ['processing', 'completed', 'failed'],
  ] as const)(
    'is a contradiction for an order that is %s (attempt %s) and reported as %s',
    (status, attemptState, outcome) => {
      expect(judgeObservation({ status, attemptState, latestAttempt: true }, outcome)).toBe('contradiction');
    },
  );

  it('is known for the failure of an earlier attempt, for any end of the order', () => {
    for (const status of FINAL_STATUSES) {
      expect(judgeObservation({ status, attemptState: 'failed', latestAttempt: false }, 'failed')).toBe('known');
    }
  });

  it('is a contradiction for a completed earlier attempt that had failed, in every order status', () => {
    for (const status of ['processing', 'held', 'failed', 'abandoned'] as const) {
      expect(judgeObservation({ status, attemptState: 'failed', latestAttempt: false }, 'completed')).toBe(
        'contradiction',
      );
    }
  });

  it('is a contradiction for a double purchase: an earlier attempt completes beside a later one', () => {
    expect(judgeObservation({ status: 'completed', attemptState: 'failed', latestAttempt: false }, 'completed')).toBe(
      'contradiction',
    );
  });

  it('advances once with the end of a subscription, and is a contradiction without a purchase', () => {
    const active = { status: 'active', attemptState: 'completed', latestAttempt: true } as const;
    for (const end of ['cancelled', 'expired'] as const) {
      expect(judgeObservation(active, 'completed', judgeSubscriptionEnd(undefined, end))).toBe('advance');
      expect(judgeObservation(active, 'completed', judgeSubscriptionEnd(end, end))).toBe('known');
      expect(judgeObservation({ ...active, status: end }, 'completed', judgeSubscriptionEnd(end, end))).toBe('known');
      const abandoned = { ...active, status: 'abandoned', attemptState: 'refused' } as const;
      expect(judgeObservation(abandoned, 'completed', judgeSubscriptionEnd(undefined, end))).toBe('contradiction');
    }
    expect(judgeObservation(active, 'completed')).toBe('known');
    expect(judgeObservation(active, 'failed')).toBe('contradiction');
  });

  it('occurs with each kind in the tables', () => {
    const decisions = new Set(
      [...Object.values(ATTEMPT_DECISIONS), ...Object.values(FINISHED_DECISIONS)].flatMap((row) => Object.values(row)),
    );
    expect(decisions).toEqual(new Set(['advance', 'known', 'contradiction']));
  });
});

describe('the product of a purchase', () => {
  it('counts as ordered unless both are known and differ', () => {
    expect(isAsOrdered(1, 1)).toBe(true);
    expect(isAsOrdered(1, undefined)).toBe(true);
    expect(isAsOrdered(undefined, 1)).toBe(true);
    expect(isAsOrdered(1, 2)).toBe(false);
    expect(isAsOrdered(0, 1)).toBe(false);
  });
});
