import { describe, expect, it } from 'vitest';
import {
  CASE_VERDICTS,
  judgeAbandon,
  judgeLimitChange,
  judgeRelease,
  judgeRetry,
  judgeRetryChange,
  REFUSALS,
  SERVICE_ID,
  type OperatedWork,
} from '#domain/operator/operator-actions.ts';
import { ATTEMPT_STATES } from '#domain/relay/observation.ts';
import type { RetryOverrides } from '#domain/retry/retry-rules.ts';
import { FINAL_STATUSES, isFinal, WORK_STATUSES } from '#domain/work/lifecycle.ts';
import { withCase } from '#test/support/work/operated-work.ts';

describe.each([
  ['release', judgeRelease, ['held'], 'not_held'],
  ['retry', judgeRetry, ['held', 'needs_attention'], 'not_waiting'],
] as const)('a %s', (_action, judge, waiting, refusal) => {
  it('is allowed once for waiting work, and refused with a reason otherwise', () => {
    for (const status of WORK_STATUSES) {
      const isWaiting = (waiting as readonly string[]).includes(status);
      const first = isWaiting ? 'allowed' : refusal;
      expect(judge({ ...withCase, status }, false)).toBe(isFinal(status) ? 'already_ended' : first);
      expect(judge({ ...withCase, status }, true)).toBe(isFinal(status) ? 'already_ended' : 'unchanged');
    }
  });

  it('waits for a verdict on a contradiction', () => {
    const work = { ...withCase, status: 'held', openContradiction: true } as const;
    for (const isDone of [true, false]) expect(judge(work, isDone)).toBe('contradiction_open');
  });
});

describe('a change of the retry policy', () => {
  const NOW = Date.UTC(2030, 0, 31, 12);
  const judge = (current: RetryOverrides, next: RetryOverrides, status: OperatedWork['status'] = 'held') =>
    judgeRetryChange({ ...withCase, status }, current, next, NOW);

  it('is allowed until the end, and has no effect with the present values', () => {
    for (const status of WORK_STATUSES) {
      expect(judge({}, { attempts: 5 }, status)).toBe(isFinal(status) ? 'already_ended' : 'allowed');
      expect(judge({ attempts: 5 }, { attempts: 5 }, status)).toBe(isFinal(status) ? 'already_ended' : 'unchanged');
    }
  });

  it('accepts a future deadline, and keeps a past one', () => {
    const past = { deadlineAt: NOW - 1 };
    const ahead = { deadlineAt: NOW + 60_000 };
    expect(judge({}, ahead)).toBe('allowed');
    expect(judge(past, ahead)).toBe('allowed');
    expect(judge(ahead, past)).toBe('deadline_not_possible');
    expect(judge({}, past)).toBe('deadline_not_possible');
    expect(judge(past, { ...past, attempts: 5 })).toBe('allowed');
    expect(judge(past, {})).toBe('allowed');
  });
});

describe('an abandonment', () => {
  it('is allowed only for work that bought nothing', () => {
    for (const state of ATTEMPT_STATES) {
      for (const settled of [true, false]) {
        const harmless = state === 'prepared' || state === 'refused' || (state === 'failed' && settled);
        expect(judgeAbandon({ ...withCase, attempt: { state, settled } }), `${state} ${settled}`).toBe(
          harmless ? 'allowed' : 'may_be_bought',
        );
      }
    }
  });

  it('has no effect the second time, and is too late after another end', () => {
    for (const status of FINAL_STATUSES)
      expect(judgeAbandon({ ...withCase, status })).toBe(status === 'abandoned' ? 'unchanged' : 'already_ended');
  });

  it('waits for a report of the service, and for a verdict on a contradiction', () => {
    expect(judgeAbandon(withCase)).toBe('allowed');
    expect(judgeAbandon({ ...withCase, observationsPending: true })).toBe('may_be_bought');
    expect(judgeAbandon({ ...withCase, openContradiction: true })).toBe('contradiction_open');
    expect(judgeAbandon({ ...withCase, awaitsComparison: true })).toBe('not_compared');
  });
});

describe('a change of the limit', () => {
  it('is allowed until the end, has no effect with the present limit, and is refused in another currency', () => {
    for (const status of WORK_STATUSES) {
      const work = { ...withCase, status };
      const orEnded = (judgement: string) => (isFinal(status) ? 'already_ended' : judgement);
      expect(judgeLimitChange(work, false)).toBe(orEnded('allowed'));
      expect(judgeLimitChange(work, true)).toBe(orEnded('unchanged'));
      expect(judgeLimitChange(work, false, false)).toBe(orEnded('other_currency'));
    }
  });
});

describe('the texts and inputs of an operator', () => {
  it('include a full sentence for each verdict and each refusal', () => {
    for (const sentence of [...Object.values(CASE_VERDICTS), ...Object.values(REFUSALS)])
      expect(sentence).toMatch(/^[A-Z`].{15,}\.$/);
  });

  it.each(['so_1', 'a', '~!', 'x'.repeat(128)])('accept %j as an id of the service', (id) => {
    expect(SERVICE_ID.test(id)).toBe(true);
  });

  it.each(['', 'so 1', ' so_1', 'so_1 ', 'so_1\n', 'só', '\u007f', 'x'.repeat(129)])(
    'refuse %j as an id of the service',
    (id) => {
      expect(SERVICE_ID.test(id)).toBe(false);
    },
  );
});
