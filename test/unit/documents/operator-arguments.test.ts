import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryChangeOf } from '#domain/retry/retry-change.ts';
import { assertForAll } from '#test/support/for-all.ts';
import { HANDLER_DESCRIPTIONS, HANDLER_EXAMPLES } from '#workflows/handler-descriptions.ts';
import {
  actionProblem,
  limitProblem,
  objectProblem,
  resolutionProblem,
  retryPolicyProblem,
} from '#workflows/operator-updates.ts';

const action = { by: 'Ada', reason: 'a test' };
const ofWaits = (first: number | null, longest: number | null) => ({
  first_wait_seconds: first,
  longest_wait_seconds: longest,
});

describe('the argument of a retry policy change', () => {
  it.each([
    [{ attempts: 5 }, { attempts: 5 }],
    [ofWaits(1, 604_800), { firstDelayMs: 1_000, maxDelayMs: 604_800_000 }],
    [{ deadline: '2030-02-04T12:00:00+01:00' }, { deadlineAt: Date.UTC(2030, 1, 4, 11) }],
    [
      { ...ofWaits(null, null), attempts: null, deadline: null },
      { attempts: null, firstDelayMs: null, maxDelayMs: null, deadlineAt: null },
    ],
  ])('%j is converted, without fields that it omits', (typed, change) => {
    expect(retryPolicyProblem({ ...action, ...typed })).toBeUndefined();
    expect(retryChangeOf({ ...action, ...typed })).toEqual(change);
  });

  it.each([
    [{}, /^Say what is to change: attempts, first_wait_seconds/],
    [{ attempts: 0 }, /^attempts must be a whole number from 1 to 20, or null\.$/],
    [{ attempts: 21 }, /^attempts/],
    [{ attempts: '3' }, /^attempts/],
    [{ first_wait_seconds: 0.5 }, /^first_wait_seconds must be a whole number from 1 to 604800, or null\.$/],
    [{ longest_wait_seconds: 604_801 }, /^longest_wait_seconds/],
    [ofWaits(60, 30), /^first_wait_seconds must not be more than longest_wait_seconds\.$/],
    [{ deadline: 'tomorrow' }, /^deadline must be an RFC 3339 time with offset/],
    [{ deadline: '2030-02-04T12:00:00' }, /^deadline/],
    [{ deadline: '2030-02-04T25:00:00Z' }, /^deadline/],
    [{ deadline: 1_896_000_000_000 }, /^deadline/],
    [{ attempts: 5, reason: '' }, /^Say who acts and why/],
  ])('%j is refused with the reason', (typed, problem) => {
    expect(retryPolicyProblem({ ...action, ...typed })).toMatch(problem);
  });

  it.each([undefined, null, 'attempts: 5', 7])('%j is refused as unreadable', (typed) => {
    expect(retryPolicyProblem(typed)).toMatch(/^Say what is to change/);
  });
});

describe('the argument of an action', () => {
  it.each([undefined, null, 'hello', 7, ['Ada']])('%j is refused with the object that is expected', (typed) => {
    expect(objectProblem(typed, HANDLER_EXAMPLES.retry)).toBe(
      'The argument must be one JSON object, such as {"by":"Ada","reason":"The balance was topped up."}.',
    );
  });

  it('that is an object is checked field by field', () => {
    expect(objectProblem({ by: 'Ada' }, HANDLER_EXAMPLES.retry)).toBeUndefined();
    expect(actionProblem({ by: 'Ada' })).toMatch(/wrong or missing: reason\.$/);
  });
});

const UPDATES = {
  retry: actionProblem,
  release: actionProblem,
  abandon: actionProblem,
  changeLimit: limitProblem,
  changeRetryPolicy: retryPolicyProblem,
  resolve: resolutionProblem,
} as const;
const updates = Object.entries(UPDATES);

describe('the description of a handler', () => {
  it.each(Object.entries(HANDLER_DESCRIPTIONS))('%s contains the JSON of an example', (name, description) => {
    const example: unknown = JSON.parse(/Example: (.*)$/.exec(description)?.[1] ?? '');
    expect(example).toEqual(name in HANDLER_EXAMPLES ? HANDLER_EXAMPLES[name as keyof typeof HANDLER_EXAMPLES] : []);
  });

  it.each(updates)('%s contains an example that its validator accepts, with each of its fields', (name, problem) => {
    const example = HANDLER_EXAMPLES[name as keyof typeof UPDATES];
    expect(problem(example)).toBeUndefined();
    const { [name as keyof typeof UPDATES]: description } = HANDLER_DESCRIPTIONS;
    for (const field of Object.keys(example)) expect(description).toContain(`\`${field}\``);
  });
});

describe('the unencrypted refusal of an argument', () => {
  it('contains nothing of the input', () => {
    const hostile = fc.constantFrom('Zqxj Jane +49 151 5550100', { amount: 'Zqxj', currency: 'Zqxj' }, 'Zqxj\0');
    const fields = ['by', 'reason', 'case', 'verdict', 'next', 'service_id', 'attempts', 'deadline', 'max_price'];
    const typed = fc.record(Object.fromEntries(fields.map((name) => [name, hostile])), { requiredKeys: [] });
    assertForAll(typed, fc.constantFrom(...updates), (input, [, problem]) => {
      expect(problem(input) ?? '').not.toContain('Zqxj');
    });
  });
});
