import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import {
  deadlineIsPossible,
  durationText,
  equalWaits,
  isRetried,
  leadsToNewAttempt,
  RETRY_BOUNDS,
  retriedClasses,
  retryRule,
  retrySentence,
  ruleOfWork,
  type RetrySettings,
  WHEN_USED_UP,
} from '#domain/retry/retry-rules.ts';
import { FAILURE_CLASSES, failureClasses } from '#domain/work/failure.ts';

const settings: RetrySettings = DEFAULT_POLICY.purchase;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2030, 0, 31, 12);

describe('the retried classes', () => {
  it('are exactly the classes with a hold or a new attempt', () => {
    const tried = failureClasses.filter((failure) =>
      ['hold', 'new_attempt'].includes(FAILURE_CLASSES[failure].disposition),
    );
    expect(retriedClasses.toSorted()).toEqual(tried.toSorted());
    expect(failureClasses.filter(isRetried).toSorted()).toEqual(tried.toSorted());
  });

  it('lead to new attempts only for supplier_failed', () => {
    expect(retriedClasses.filter(leadsToNewAttempt)).toEqual(['supplier_failed']);
  });
});

describe('the rule of a class', () => {
  it.each([
    ['rate_limited', 15_000, 10 * MINUTE],
    ['not_sent', 15_000, 10 * MINUTE],
    ['supplier_failed', 30_000, 10 * MINUTE],
    ['price_above_limit', MINUTE, HOUR],
    ['margin_too_low', MINUTE, HOUR],
    ['package_unavailable', MINUTE, HOUR],
  ] as const)('for %s has the documented default', (failure, firstDelayMs, maxDelayMs) => {
    expect(retryRule(failure, settings)).toEqual({ attempts: 3, firstDelayMs, maxDelayMs, totalMs: 48 * HOUR });
  });

  it('fails by default when its attempts are used up, and can ask instead', () => {
    expect([settings.whenUsedUp, ...WHEN_USED_UP]).toEqual(['fail', 'fail', 'ask']);
  });

  it('for a class without retries, or without a failure, is the general rule', () => {
    const ofAll = { attempts: 3, firstDelayMs: 15_000, maxDelayMs: 10 * MINUTE, totalMs: 48 * HOUR };
    expect(retryRule(undefined, settings)).toEqual(ofAll);
    expect(retryRule('invalid_request', settings)).toEqual(ofAll);
  });

  it('follows the general settings as a multiple of them', () => {
    const ofHolds = { holdDelayMs: 300, holdDelayMaxMs: 1_000, holdDeadlineMs: HOUR };
    const short = { ...settings, ...ofHolds, attemptDelayMs: 200, maxAttempts: 2 };
    expect(retryRule('not_sent', short)).toEqual({ attempts: 2, firstDelayMs: 300, maxDelayMs: 1_000, totalMs: HOUR });
    const ofPrices = { attempts: 2, firstDelayMs: 1_200, maxDelayMs: 6_000, totalMs: HOUR };
    expect(retryRule('price_above_limit', short)).toEqual(ofPrices);
    expect(retryRule('supplier_failed', short)).toMatchObject({ firstDelayMs: 200, maxDelayMs: 1_000 });
  });

  it('is configured per class, except for attempts, which apply to the whole purchase', () => {
    const ofPrices = { firstDelayMs: 5 * MINUTE, totalMs: 48 * HOUR };
    const retryRules = { price_above_limit: ofPrices, supplier_failed: { attempts: 7 } };
    const configured = { ...settings, retryRules };
    expect(retryRule('price_above_limit', configured)).toEqual({ ...ofPrices, attempts: 7, maxDelayMs: HOUR });
    expect(retryRule('margin_too_low', configured)).toEqual({ ...retryRule('margin_too_low', settings), attempts: 7 });
  });
});

describe('the retry policy of an operator for one item', () => {
  const rule = retryRule('not_sent', settings);

  it('is described in a sentence', () => {
    expect(retrySentence(rule, NOW, {})).toBe(
      'At most 3 attempts; waits of 15 s at first, 10 min at most; given up after 2030-01-31T12:00:00.000Z.',
    );
    const set = { attempts: 1, firstDelayMs: HOUR, maxDelayMs: HOUR, deadlineAt: NOW };
    expect(retrySentence(ruleOfWork(rule, set), NOW, set)).toBe(
      'At most 1 attempt; waits of 1 h; given up after 2030-01-31T12:00:00.000Z. ' +
        'Set by an operator for this one: the attempts, the first wait, the longest wait, the deadline.',
    );
  });

  it.each([
    [1_500, '1500 ms'],
    [90_000, '90 s'],
    [2 * HOUR, '2 h'],
    [48 * HOUR, '2 d'],
    [0, '0 ms'],
  ])('formats %i ms as %s', (ms, words) => {
    expect(durationText(ms)).toBe(words);
  });
});

describe('a deadline of an operator', () => {
  it('must be in the future, within a limit', () => {
    const { deadlineMs: most } = RETRY_BOUNDS;
    const possible = [0, 1, most, most + 1].map((inMs) => deadlineIsPossible(NOW + inMs, NOW));
    expect(possible).toEqual([false, true, true, false]);
  });
});

describe('the delays of two rules', () => {
  const rule = { attempts: 3, firstDelayMs: MINUTE, maxDelayMs: HOUR, totalMs: 24 * HOUR };

  it('are equal independently of other values', () => {
    expect(equalWaits(rule, { ...rule, attempts: 5, totalMs: HOUR })).toBe(true);
    expect(equalWaits(rule, { ...rule, firstDelayMs: 2 * MINUTE })).toBe(false);
    expect(equalWaits(rule, { ...rule, maxDelayMs: 2 * HOUR })).toBe(false);
  });
});
