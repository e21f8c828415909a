import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HANDLER_DESCRIPTIONS, HANDLER_EXAMPLES } from '#workflows/handler-descriptions.ts';
import { actionProblem, limitProblem, resolutionProblem, retryPolicyProblem } from '#workflows/operator-updates.ts';

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
    const typed = fc.record(
      Object.fromEntries(
        ['by', 'reason', 'case', 'verdict', 'next', 'service_id', 'attempts', 'deadline', 'max_price'].map((name) => [
          name,
          fc.constantFrom('Zqxj Jane +49 151 5550100', { amount: 'Zqxj', currency: 'Zqxj' }, 'Zqxj\0'),
        ]),
      ),
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(typed, fc.constantFrom(...updates), (input, [, problem]) => {
        expect(problem(input) ?? '').not.toContain('Zqxj');
      }),
    );
  });
});
