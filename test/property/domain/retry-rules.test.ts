import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import {
  changedOverrides,
  equalOverrides,
  givesUpAt,
  RETRY_OVERRIDES,
  retriedClasses,
  retryRule,
  ruleOfWork,
  WHEN_USED_UP,
  type RetryOverrides,
  type RetryRule,
  type RetrySettings,
} from '#domain/retry/retry-rules.ts';
import { failureClasses } from '#domain/work/failure.ts';
import { assertForAll, assertForMany } from '#test/support/for-all.ts';

const NOW = Date.UTC(2030, 0, 31, 12);
const delay = fc.integer({ min: 1, max: 604_800_000 });
const attempts = fc.integer({ min: 1, max: 20 });
const classRule: fc.Arbitrary<Partial<RetryRule>> = fc.record(
  { attempts, firstDelayMs: delay, maxDelayMs: delay, totalMs: delay },
  { requiredKeys: [] },
);
const settings: fc.Arbitrary<RetrySettings> = fc
  .record({
    holdDelayMs: fc.integer({ min: 0, max: 86_400_000 }),
    holdDelayMaxMs: delay,
    holdDeadlineMs: delay,
    maxAttempts: attempts,
    whenUsedUp: fc.constantFrom(...WHEN_USED_UP),
    attemptDelayMs: fc.integer({ min: 0, max: 86_400_000 }),
    rules: fc.dictionary(fc.constantFrom(...retriedClasses), classRule),
  })
  .map(({ rules, ...all }) => ({ ...all, retryRules: rules }));
const overrides: fc.Arbitrary<RetryOverrides> = fc.record(
  {
    attempts,
    firstDelayMs: delay,
    maxDelayMs: delay,
    deadlineAt: fc.integer({ min: NOW - 1, max: NOW + 604_800_000 }),
  },
  { requiredKeys: [] },
);
const failure = fc.constantFrom(undefined, ...failureClasses);

describe('the retry policy', () => {
  it('has each value that was set, and a first delay up to the longest one', () => {
    assertForMany(2_000, failure, settings, overrides, fc.nat({ max: 5 }), (of, configured, set, granted) => {
      const base = retryRule(of, configured);
      const rule = ruleOfWork(base, set, granted);
      expect(rule.attempts).toBe(set.attempts ?? base.attempts + granted);
      // A longer first delay raises the longest one. A longest delay limits the first.
      expect(rule.maxDelayMs).toBe(set.maxDelayMs ?? Math.max(base.maxDelayMs, set.firstDelayMs ?? 0));
      expect(rule.firstDelayMs).toBe(Math.min(set.firstDelayMs ?? base.firstDelayMs, rule.maxDelayMs));
      expect(ruleOfWork(base, {})).toEqual(base);
    });
  });

  it('of a class depends on the configuration of that class only, except for attempts', () => {
    const retried = fc.constantFrom(...retriedClasses);
    assertForAll(retried, retried, classRule, (changed, asked, rule) => {
      fc.pre(changed !== asked);
      const plain = DEFAULT_POLICY.purchase;
      const { attempts: _plain, ...before } = retryRule(asked, plain);
      const { attempts: _changed, ...after } = retryRule(asked, { ...plain, retryRules: { [changed]: rule } });
      expect(after).toEqual(before);
    });
  });

  it("ends at the earlier of the caller's deadline and the class limit, unless a deadline was set", () => {
    assertForAll(failure, settings, overrides, fc.option(delay, { nil: undefined }), (of, configured, set, wish) => {
      const rule = retryRule(of, configured);
      const deadlineAt = wish === undefined ? undefined : NOW + wish;
      const at = givesUpAt({ acceptedAt: NOW, deadlineAt }, rule, set);
      expect(at).toBe(set.deadlineAt ?? Math.min(NOW + rule.totalMs, deadlineAt ?? Infinity));
    });
  });

  it('is the configured one after a reset, and a repeated change has no effect', () => {
    const count = fc.option(attempts);
    const ms = fc.option(delay);
    const fields = { attempts: count, firstDelayMs: ms, maxDelayMs: ms, deadlineAt: ms };
    const change = fc.record(fields, { requiredKeys: [] });
    const reset = { attempts: null, firstDelayMs: null, maxDelayMs: null, deadlineAt: null };
    assertForAll(overrides, change, (set, wish) => {
      const once = changedOverrides(set, wish);
      expect(equalOverrides(once, changedOverrides(once, wish))).toBe(true);
      expect(changedOverrides(once, reset)).toStrictEqual({});
      expect(changedOverrides(set, {})).toStrictEqual({ ...set });
      for (const name of RETRY_OVERRIDES)
        expect(equalOverrides(set, { ...set, [name]: (set[name] ?? 0) + 1 })).toBe(false);
    });
  });
});
