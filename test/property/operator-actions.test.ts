import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/attention.ts';
import { ATTEMPT_STATES } from '#domain/observation.ts';
import {
  caseVerdicts,
  judgeAbandon,
  judgeLimitChange,
  judgeResolve,
  judgeRetry,
  REFUSALS,
  VERDICTS_OF,
  type OperatedWork,
} from '#domain/operator-actions.ts';
import { isFinal, statusesOf } from '#domain/lifecycle.ts';

const reasons = Object.keys(ATTENTION_REASONS) as AttentionReason[];
const work: fc.Arbitrary<OperatedWork> = fc.record({
  status: fc.constantFrom(...statusesOf('order')),
  attempt: fc.option(fc.record({ state: fc.constantFrom(...ATTEMPT_STATES), settled: fc.boolean() }), { nil: undefined }),
  openContradiction: fc.boolean(),
});
const judgements = ['allowed', 'unchanged', ...Object.keys(REFUSALS)];

describe('what a person may do with an order', () => {
  it('is decided for every state that an order can be in', () => {
    fc.assert(
      fc.property(work, fc.constantFrom(...reasons), fc.constantFrom(...caseVerdicts), (state, reason, verdict) => {
        for (const judged of [judgeRetry(state), judgeAbandon(state), judgeLimitChange(state), judgeResolve(state, reason, verdict)]) {
          expect(judgements).toContain(judged);
        }
      }),
    );
  });

  it('never ends an order that may have cost something: a send under way or unknown, a purchase, a failure that is not settled', () => {
    const costNothing = ({ attempt }: OperatedWork) =>
      attempt === undefined || attempt.state === 'prepared' || attempt.state === 'refused' || (attempt.state === 'failed' && attempt.settled);
    fc.assert(
      fc.property(work, (state) => {
        const mayEnd = !isFinal(state.status) && !state.openContradiction && costNothing(state);
        expect(judgeAbandon(state) === 'allowed').toBe(mayEnd);
      }),
      { numRuns: 2_000 },
    );
  });

  it('never brings an ended order to life', () => {
    const ended = work.filter(({ status }) => isFinal(status));
    fc.assert(
      fc.property(ended, fc.constantFrom(...reasons), (state, reason) => {
        expect(judgeRetry(state)).toBe('already_ended');
        expect(judgeLimitChange(state)).toBe('already_ended');
        expect(judgeResolve(state, reason, 'not_bought')).not.toBe('allowed');
      }),
      { numRuns: 1_000 },
    );
  });

  it('is nothing but a verdict after a contradiction', () => {
    const open = work.filter(({ status }) => !isFinal(status)).map((state) => ({ ...state, openContradiction: true }));
    fc.assert(
      fc.property(open, (state) => {
        expect([judgeRetry(state), judgeAbandon(state)]).toEqual(['contradiction_open', 'contradiction_open']);
      }),
    );
  });

  it('has a way out of every reason to wait for a person: a verdict, or a retry', () => {
    for (const reason of reasons) {
      const parked: OperatedWork = { status: 'needs_attention', attempt: undefined, openContradiction: reason === 'contradiction' };
      const verdicts = VERDICTS_OF[reason].filter((verdict) => judgeResolve(parked, reason, verdict) === 'allowed');
      expect(verdicts.length > 0 || judgeRetry(parked) === 'allowed', reason).toBe(true);
    }
  });
});
