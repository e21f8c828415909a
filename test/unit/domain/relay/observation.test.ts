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

/** Both tables once more, as sentences. */
function meaning({ status, attemptState, latestAttempt }: ObservedWork, outcome: ObservedOutcome): ObservationDecision {
  const opposite = (said: ObservedOutcome) => (said === 'completed' ? 'failed' : 'completed');
  // The service's last word on an attempt stands: the opposite contradicts it, anything else is old news.
  if (attemptState === 'failed') return outcome === opposite(attemptState) ? 'contradiction' : 'known';
  if (isFinal(status)) {
    const bought = status !== 'failed' && status !== 'abandoned' && status !== 'refused';
    return bought === (outcome !== 'failed') ? 'known' : 'contradiction';
  }
  if (attemptState === 'completed') return outcome === opposite(attemptState) ? 'contradiction' : 'known';
  if (attemptState === 'processing' && outcome === 'processing') return 'known';
  // News moves the attempt that counts, and contradicts that an earlier one was given up.
  return latestAttempt ? 'advance' : 'contradiction';
}

describe('what an observation means', () => {
  it('is decided for every order status, attempt state and outcome', () => {
    expect(everything).toHaveLength(WORK_STATUSES.length * 7 * 3 * 2);
    for (const { work, outcome } of everything) {
      expect(['advance', 'known', 'contradiction']).toContain(judgeObservation(work, outcome));
    }
  });

  it('is in every case what the sentences of this file say [spec: gap.transitions]', () => {
    expect(
      everything.map(({ work, outcome }) => ({ ...work, outcome, decision: judgeObservation(work, outcome) })),
    ).toEqual(everything.map(({ work, outcome }) => ({ ...work, outcome, decision: meaning(work, outcome) })));
  });

  it('tells of two ends that a subscription may come to', () => {
    expect([...SUBSCRIPTION_ENDS]).toEqual(['cancelled', 'expired']);
  });

  it('of an end besides is news exactly where the work is open, its attempt known, and no end of it was heard of yet', () => {
    for (const { work, outcome } of everything) {
      for (const end of SUBSCRIPTION_ENDS) {
        const plain = meaning(work, outcome);
        const news = plain === 'known' && !isFinal(work.status) ? 'advance' : plain;
        expect(judgeObservation(work, outcome, judgeSubscriptionEnd(undefined, end))).toBe(news);
        expect(judgeObservation(work, outcome, judgeSubscriptionEnd(end, end))).toBe(plain);
      }
    }
  });

  it('that contradicts what follows the purchase is a contradiction, whatever it says of the purchase', () => {
    for (const { work, outcome } of everything)
      expect(judgeObservation(work, outcome, 'contradiction')).toBe('contradiction');
  });

  it('never advances an order that has ended', () => {
    const ended = everything.filter(({ work }) => isFinal(work.status));
    expect(ended.map(({ work, outcome }) => judgeObservation(work, outcome))).not.toContain('advance');
  });

  it('never brings an attempt back to life that the order has gone on from: two would be bought', () => {
    const earlier = everything.filter(({ work }) => !work.latestAttempt);
    expect(earlier.map(({ work, outcome }) => judgeObservation(work, outcome))).not.toContain('advance');
  });

  it('is the same for the same event a second time: known, once it was applied', () => {
    for (const outcome of OBSERVED_OUTCOMES) {
      expect(judgeObservation({ status: 'processing', attemptState: outcome, latestAttempt: true }, outcome)).toBe(
        'known',
      );
    }
    expect(judgeObservation({ status: 'completed', attemptState: 'completed', latestAttempt: true }, 'completed')).toBe(
      'known',
    );
  });

  it('is old news for a processing that comes after the end of its attempt', () => {
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
    'is a contradiction for an order that is %s (attempt %s) and is said to be %s',
    (status, attemptState, outcome) => {
      expect(judgeObservation({ status, attemptState, latestAttempt: true }, outcome)).toBe('contradiction');
    },
  );

  it('is no news for the failure of an earlier attempt, whatever came of the order', () => {
    for (const status of FINAL_STATUSES) {
      expect(judgeObservation({ status, attemptState: 'failed', latestAttempt: false }, 'failed')).toBe('known');
    }
  });

  it('is a contradiction when an earlier, failed attempt is reported as completed, whatever the outcome of the order', () => {
    for (const status of ['processing', 'held', 'failed', 'abandoned'] as const) {
      expect(judgeObservation({ status, attemptState: 'failed', latestAttempt: false }, 'completed')).toBe(
        'contradiction',
      );
    }
  });

  it('an earlier attempt that completes after all, beside a completed later one, was bought twice: a contradiction', () => {
    expect(judgeObservation({ status: 'completed', attemptState: 'failed', latestAttempt: false }, 'completed')).toBe(
      'contradiction',
    );
  });

  it('of the end of a subscription is news once, and a contradiction where nothing was bought', () => {
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

  it('has a decision of each kind in its tables', () => {
    const decisions = new Set(
      [...Object.values(ATTEMPT_DECISIONS), ...Object.values(FINISHED_DECISIONS)].flatMap((row) => Object.values(row)),
    );
    expect(decisions).toEqual(new Set(['advance', 'known', 'contradiction']));
  });
});

describe('what was sold', () => {
  it('is as it was ordered unless both are known and differ', () => {
    expect(isAsOrdered(1, 1)).toBe(true);
    expect(isAsOrdered(1, undefined)).toBe(true);
    expect(isAsOrdered(undefined, 1)).toBe(true);
    expect(isAsOrdered(1, 2)).toBe(false);
    expect(isAsOrdered(0, 1)).toBe(false);
  });
});
