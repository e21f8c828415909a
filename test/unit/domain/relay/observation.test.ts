import { describe, expect, it } from 'vitest';
import {
  ATTEMPT_STATES,
  isAsOrdered,
  judgeObservation,
  judgeSubscriptionEnd,
  OBSERVED_OUTCOMES,
  SUBSCRIPTION_ENDS,
  type ObservationDecision,
  type ObservedOutcome,
  type ObservedWork,
} from '#domain/relay/observation.ts';
import { isFinal, WORK_STATUSES } from '#domain/work/lifecycle.ts';

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
  it('equals the conditions of this file', () => {
    for (const { work, outcome } of everything)
      expect([work, outcome, judgeObservation(work, outcome)]).toEqual([work, outcome, meaning(work, outcome)]);
  });

  it('with an additional end is new only for open work with a known attempt and without an earlier end', () => {
    for (const { work, outcome } of everything) {
      for (const end of SUBSCRIPTION_ENDS) {
        const plain = meaning(work, outcome);
        const expected = plain === 'known' && !isFinal(work.status) ? 'advance' : plain;
        expect(judgeObservation(work, outcome, judgeSubscriptionEnd(undefined, end))).toBe(expected);
        for (const said of [end, undefined])
          expect(judgeObservation(work, outcome, judgeSubscriptionEnd(end, said))).toBe(plain);
        expect(judgeObservation(work, outcome, judgeSubscriptionEnd(undefined, undefined))).toBe(plain);
      }
    }
  });

  it('with a contradiction after the purchase is a contradiction, for any purchase report', () => {
    for (const { work, outcome } of everything)
      expect(judgeObservation(work, outcome, 'contradiction')).toBe('contradiction');
  });

  it('never advances an earlier attempt, because two would be bought', () => {
    const earlier = everything.filter(({ work }) => !work.latestAttempt);
    expect(earlier.map(({ work, outcome }) => judgeObservation(work, outcome))).not.toContain('advance');
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
