import { describe, expect, it } from 'vitest';
import { retryRules } from '#config/retry-rules.ts';
import { retriedClasses } from '#domain/retry/retry-rules.ts';

const read = (value: unknown) => retryRules().parse(typeof value === 'string' ? value : JSON.stringify(value));
const problems = (value: unknown) => {
  const result = retryRules().safeParse(typeof value === 'string' ? value : JSON.stringify(value));
  return result.success ? [] : result.error.issues.map(({ message }) => message);
};

describe('POLICY_RETRY_RULES', () => {
  it('has durations in the form of other settings', () => {
    const rules = read({
      price_above_limit: { first_delay: '5m', max_delay: '2h', total: '48h' },
      supplier_failed: { attempts: 5, first_delay: '500ms' },
    });
    expect(rules).toEqual({
      price_above_limit: { firstDelayMs: 300_000, maxDelayMs: 7_200_000, totalMs: 172_800_000 },
      supplier_failed: { attempts: 5, firstDelayMs: 500 },
    });
  });

  it('accepts every class with retries', () => {
    for (const failure of retriedClasses)
      expect(read({ [failure]: { total: '7d' } })).toEqual({ [failure]: { totalMs: 604_800_000 } });
  });

  it.each(['', 'nonsense', '[]', '{}', 'null', '7', '[{"not_sent": {}}]'])(
    'is refused with an example without an object of rules: %s',
    (text) => {
      expect(problems(text)).toEqual([
        expect.stringMatching(/^must be a JSON object of rules by failure class, such as \{"price_above_limit"/),
      ]);
    },
  );

  it('refuses an unknown class, and one without retries, with a list of valid ones', () => {
    expect(problems({ price_too_high: { total: '1h' } })).toEqual([
      expect.stringMatching(/there is no failure class "price_too_high"; classes .* price_above_limit/),
    ]);
    expect(problems({ invalid_request: { total: '1h' } })).toEqual([
      expect.stringMatching(/^invalid_request has no retries/),
    ]);
    expect(problems({ timeout: { total: '1h' } })).toEqual([expect.stringMatching(/^timeout has no retries/)]);
  });

  it.each([
    [{}, /^not_sent: must be an object with some of attempts, first_delay, max_delay, total$/],
    [[], /^not_sent: must be an object/],
    ['5m', /^not_sent: must be an object/],
    [{ firstDelay: '5m' }, /^not_sent: must be an object/],
    [{ first_delay: 5 }, /^not_sent: first_delay must be a duration .* from 1ms to 7d$/],
    [{ first_delay: '0s' }, /^not_sent: first_delay must be/],
    [{ max_delay: '8d' }, /^not_sent: max_delay must be/],
    [{ max_delay: null }, /^not_sent: max_delay must be/],
    [{ total: '93d' }, /^not_sent: total must be a duration .* from 1ms to 92d$/],
    [{ total: 'a day' }, /^not_sent: total must be/],
    [{ first_delay: '2m', max_delay: '1m' }, /^not_sent: first_delay must not be more than max_delay$/],
    [
      { attempts: 2 },
      /^not_sent: has no attempts, because the same attempt is sent again \(classes with attempts are supplier_failed\)$/,
    ],
  ])('names the error of a rule: %j', (rule, message) => {
    expect(problems({ not_sent: rule })).toEqual([expect.stringMatching(message)]);
  });

  it.each([0, 21, 1.5, '3', null])('accepts 1 to 20 attempts, not %j', (attempts) => {
    expect(problems({ supplier_failed: { attempts } })).toEqual([
      'supplier_failed: attempts must be a whole number from 1 to 20',
    ]);
  });

  it('reports all errors at once', () => {
    expect(problems({ not_sent: { total: 'x', first_delay: 'y' }, nothing: {} })).toHaveLength(3);
  });
});
