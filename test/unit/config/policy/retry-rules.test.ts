import { describe, expect, it } from 'vitest';
import { parsePolicyFile } from '#config/policy/policy-file.ts';
import { problemsOf } from '#test/support/product-environment.ts';

const parse = (rules: unknown) => parsePolicyFile(JSON.stringify({ retry: { rules } }), 'p').policy.purchase.retryRules;
const problems = (rules: unknown) =>
  problemsOf(() => parse(rules)).map((problem) => problem.replace(/^p:1:\d+: retry\.rules\.?/, ''));

describe('retry.rules', () => {
  it('has durations in the form of other settings', () => {
    const rules = parse({
      price_above_limit: { first_delay: '5m', max_delay: '2h', total: '48h' },
      supplier_failed: { attempts: 5, first_delay: '500ms' },
    });
    expect(rules).toEqual({
      price_above_limit: { firstDelayMs: 300_000, maxDelayMs: 7_200_000, totalMs: 172_800_000 },
      supplier_failed: { attempts: 5, firstDelayMs: 500 },
    });
  });

  it.each(['nonsense', [], 7, [{ not_sent: {} }]])('is refused unless it is a map of rules: %j', (rules) => {
    expect(problems(rules)).toEqual([': must be a map of rules by failure class']);
  });

  it('refuses an unknown class, and one without retries, with a list of valid ones', () => {
    expect(problems({ price_too_high: { total: '1h' } })).toEqual([
      expect.stringMatching(/^price_too_high is no failure class; classes .* price_above_limit/),
    ]);
    expect(problems({ invalid_request: { total: '1h' } })).toEqual([
      expect.stringMatching(/^invalid_request has no retries/),
    ]);
    expect(problems({ timeout: { total: '1h' } })).toEqual([expect.stringMatching(/^timeout has no retries/)]);
  });

  it.each([
    [{}, /^not_sent: must be a map with some of attempts, first_delay, max_delay, total$/],
    [[], /^not_sent: must be a map/],
    ['5m', /^not_sent: must be a map/],
    [{ firstDelay: '5m' }, /^not_sent\.firstDelay is not a setting; did you mean first_delay\?$/],
    [{ first_delay: 5 }, /^not_sent\.first_delay: must be a duration/],
    [{ first_delay: '0s' }, /^not_sent\.first_delay: must be from 10ms to 7d$/],
    [{ max_delay: '8d' }, /^not_sent\.max_delay: must be from 10ms to 7d$/],
    [{ max_delay: null }, /^not_sent\.max_delay: must be a duration/],
    [{ total: '93d' }, /^not_sent\.total: must be from 1ms to 92d$/],
    [{ total: 'a day' }, /^not_sent\.total: must be/],
    [{ first_delay: '2m', max_delay: '1m' }, /^not_sent\.first_delay: must not be more than max_delay$/],
    [
      { attempts: 2 },
      /^not_sent\.attempts is not possible here, because the same attempt is sent again \(.* supplier_failed\)$/,
    ],
  ])('names the error of a rule: %j', (rule, message) => {
    expect(problems({ not_sent: rule })).toEqual([expect.stringMatching(message)]);
  });
});
