/** `retry.rules` of the policy file: rules of single failure classes. */
import * as z from 'zod';
import { durationValue, FIRST_WAIT, wholeNumberValue } from '#config/policy/fields.ts';
import { leadsToNewAttempt, RETRY_BOUNDS, retriedClasses, type RetryRules } from '#domain/retry/retry-rules.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';

const { attempts: ATTEMPTS, delayMs: DELAY, deadlineMs: LONGEST_TOTAL_MS } = RETRY_BOUNDS;
const NO_RULE = 'must be a map with some of attempts, first_delay, max_delay, total';

/** The longest total time equals the longest deadline of work: 92 days. */
const times = {
  first_delay: durationValue({ ...FIRST_WAIT, max: DELAY.max })
    .optional()
    .meta({
      description: 'First wait; doubled each time.',
    }),
  max_delay: durationValue({ ...FIRST_WAIT, max: DELAY.max })
    .optional()
    .meta({ description: 'Longest wait.' }),
  total: durationValue({ min: 1, max: LONGEST_TOTAL_MS }).optional().meta({
    description: 'How long it is retried, counted from when the work was accepted.',
  }),
};

const NAMED = { error: ({ code }: { code: string }) => (code === 'invalid_type' ? NO_RULE : undefined) };

/** A rule that is checked as a whole. */
function whole<Rule extends z.ZodType<Waits>>(rule: Rule): Rule {
  return rule
    .refine((given) => Object.values(given).some((value) => value !== undefined), {
      error: NO_RULE,
      when: ({ issues }) => issues.length === 0,
    })
    .refine(({ first_delay: first, max_delay: longest }) => !(Number(first) > Number(longest)), {
      error: 'must not be more than max_delay',
      path: ['first_delay'],
    });
}

const waits = whole(z.strictObject(times, NAMED));
const waitsAndAttempts = whole(
  z.strictObject(
    {
      ...times,
      attempts: wholeNumberValue(ATTEMPTS.min, ATTEMPTS.max).optional().meta({
        description: 'Attempts to buy one piece of work, the first included.',
      }),
    },
    NAMED,
  ),
);

/** Rules by failure class; only classes that are tried again have one. */
export function retryRules() {
  return z
    .strictObject(
      Object.fromEntries(
        retriedClasses.map((failure) => [
          failure,
          (leadsToNewAttempt(failure) ? waitsAndAttempts : waits).optional().meta({
            description: `Retries after \`${failure}\`. Omitted values stay as they are.`,
          }),
        ]),
      ),
      { error: ({ code }) => (code === 'invalid_type' ? 'must be a map of rules by failure class' : undefined) },
    )
    .transform(rulesOf)
    .optional()
    .meta({ description: 'Different rules for single failure classes.' });
}

interface Waits {
  readonly first_delay?: number | undefined;
  readonly max_delay?: number | undefined;
  readonly total?: number | undefined;
}

interface Rule extends Waits {
  readonly attempts?: number | undefined;
}

function rulesOf(given: Readonly<Record<string, Rule | undefined>>): RetryRules {
  return Object.fromEntries(
    Object.entries(given).flatMap(([failure, rule]) => {
      if (rule === undefined) return [];
      const { attempts, first_delay: firstDelayMs, max_delay: maxDelayMs, total: totalMs } = rule;
      return [
        [
          failure,
          {
            ...(attempts !== undefined && { attempts }),
            ...(firstDelayMs !== undefined && { firstDelayMs }),
            ...(maxDelayMs !== undefined && { maxDelayMs }),
            ...(totalMs !== undefined && { totalMs }),
          },
        ],
      ];
    }),
  );
}

/**
 * Explains a name that a rule, or the map of rules, cannot have.
 *
 * @param path of the map that has the name, below `retry.rules`.
 * @returns undefined when nothing is known about it.
 */
export function unknownInRules(path: readonly PropertyKey[], name: string): string | undefined {
  if (path.length === 0) {
    const known = `classes with retries are ${retriedClasses.join(', ')}`;
    return Object.hasOwn(FAILURE_CLASSES, name)
      ? `has no retries, so it has no rule; ${known}`
      : `is no failure class; ${known}`;
  }
  if (name !== 'attempts') return undefined;
  return (
    'is not possible here, because the same attempt is sent again (classes with attempts are ' +
    `${retriedClasses.filter(leadsToNewAttempt).join(', ')})`
  );
}
