import * as z from 'zod';
import { duration, LONGEST_MS, price } from '#config/variable-types.ts';
import { contradictions, POLICY_GROUPS, policyOf, SETTINGS } from '#domain/policy/policy.ts';
import { type Bounds, FIRST_WAIT, type Setting, writeDuration } from '#domain/policy/settings.ts';
import {
  leadsToNewAttempt,
  RETRY_BOUNDS,
  retriedClasses,
  type RetryRule,
  type RetryRules,
} from '#domain/retry/retry-rules.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';

const SHARE = /^\d{1,2}(\.\d{1,2})?%$/;

function durationFrom({ min = 0, max = LONGEST_MS }: Bounds = {}) {
  const error = `must be from ${writeDuration(min)} to ${writeDuration(max)}`;
  return duration().refine((ms) => ms >= min && ms <= max, error);
}

function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

function upToFive<Item extends z.ZodType>(item: (error: string) => Item, plural: string, like: string) {
  const error = `must be a list of up to five ${plural} such as ${like}`;
  return z.array(item(error), { error }).max(5, { error });
}

const shares = upToFive(
  (error) =>
    z
      .string({ error })
      .regex(SHARE, error)
      .transform((share) => Number((Number.parseFloat(share) / 100).toFixed(4))),
  'shares',
  '[20%, 5%]',
);
const durations = upToFive(() => durationFrom(), 'durations', '[72h, 24h]');

function schemaOf({ form, fallback, description }: Setting): z.ZodType {
  const described = (schema: z.ZodType, more = '') => schema.meta({ description: description + more });
  switch (form.kind) {
    case 'duration':
      return described(durationFrom(form.bounds).prefault(writeDuration(Number(fallback))), boundsText(form.bounds));
    case 'count':
      return described(wholeNumber(form.min, form.max).default(Number(fallback)));
    case 'choice':
      return described(z.enum(form.of).default(String(fallback)));
    case 'amount':
      return described(price().optional());
    case 'shares':
      return described(shares.prefault(numbers(fallback).map((share) => `${Number((share * 100).toFixed(2))}%`)));
    case 'durations':
      return described(durations.prefault(numbers(fallback).map(writeDuration)));
    case 'rules':
      return described(retryRules);
  }
}

const numbers = (value: unknown): number[] => z.array(z.number()).parse(value);

function boundsText({ min, max }: Bounds): string {
  if (min !== undefined && max !== undefined) return ` From ${writeDuration(min)} to ${writeDuration(max)}.`;
  if (min !== undefined) return ` At least ${writeDuration(min)}.`;
  return max === undefined ? '' : ` At most ${writeDuration(max)}.`;
}

/** The longest total time equals the longest deadline of work: 92 days. */
const { attempts: ATTEMPTS, delayMs: DELAY, deadlineMs: LONGEST_TOTAL_MS } = RETRY_BOUNDS;
const RULE = 'with some of attempts, first_delay, max_delay, total';
const aDelay = (description: string) =>
  durationFrom({ ...FIRST_WAIT, max: DELAY.max })
    .optional()
    .meta({ description });
const waits = {
  first_delay: aDelay('First wait; doubled each time.'),
  max_delay: aDelay('Longest wait.'),
  total: durationFrom({ min: 1, max: LONGEST_TOTAL_MS }).optional().meta({
    description: 'How long it is retried, counted from when the work was accepted.',
  }),
};
const waitsOnly = mapOf(RULE, waits);
const waitsAndAttempts = waitsOnly.extend({
  attempts: wholeNumber(ATTEMPTS.min, ATTEMPTS.max).optional().meta({
    description: 'Attempts to buy one piece of work, the first included.',
  }),
});

function whole<Rule extends z.ZodType<z.output<typeof waitsOnly>>>(rule: Rule): Rule {
  return rule
    .refine((given) => Object.values(given).some((value) => value !== undefined), {
      error: `must be a map ${RULE}`,
      when: ({ issues }) => issues.length === 0,
    })
    .refine(({ first_delay: first, max_delay: longest }) => !(Number(first) > Number(longest)), {
      error: 'must not be more than max_delay',
      path: ['first_delay'],
    });
}

const rulesByClass = retriedClasses.map((failure) => {
  const rule = whole(leadsToNewAttempt(failure) ? waitsAndAttempts : waitsOnly).optional();
  const description = `Retries after \`${failure}\`. Omitted values stay as they are.`;
  return [failure, rule.meta({ description })] as const;
});
const retryRules = mapOf('of rules by failure class', Object.fromEntries(rulesByClass))
  .transform((given): RetryRules =>
    Object.fromEntries(
      Object.entries(given).flatMap(([failure, rule]) => (rule === undefined ? [] : [[failure, namesOf(rule)]])),
    ),
  )
  .optional();

type Rule = z.output<typeof waitsOnly> & Partial<z.output<typeof waitsAndAttempts>>;

function namesOf({ attempts, first_delay: firstDelayMs, max_delay: maxDelayMs, total: totalMs }: Rule) {
  const named = Object.entries({ attempts, firstDelayMs, maxDelayMs, totalMs });
  return Object.fromEntries(named.filter(([, value]) => value !== undefined)) as Partial<RetryRule>;
}

/** @param path below `retry.rules`. @returns undefined when nothing is known about the name. */
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

export function partsOf(name: string): readonly [group: string, setting: string] {
  const [group = '', setting = ''] = name.split('.');
  return [group, setting];
}

export const SETTING_SCHEMAS: ReadonlyMap<string, z.ZodType> = new Map(
  Object.keys(POLICY_GROUPS).flatMap((group) =>
    SETTINGS.filter(({ name }) => partsOf(name)[0] === group).map((each) => [each.name, schemaOf(each)] as const),
  ),
);

const groups = Object.entries(POLICY_GROUPS).map(([group, description]) => {
  const inGroup = [...SETTING_SCHEMAS].map(([name, schema]) => [...partsOf(name), schema] as const);
  const shape = inGroup.flatMap(([of, name, schema]) => (of === group ? [[name, schema] as const] : []));
  return [group, mapOf('of settings', Object.fromEntries(shape)).prefault({}).meta({ description })] as const;
});

function mapOf<Shape extends z.ZodRawShape>(what: string, shape: Shape) {
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'invalid_type' ? `must be a map ${what}` : undefined),
  });
}

export const policySchema = mapOf('of groups', Object.fromEntries(groups)).transform((given, context) => {
  const policy = policyOf(({ name }) => {
    const [group, setting] = partsOf(name);
    return given[group]?.[setting];
  });
  for (const [name, message] of contradictions(policy))
    context.addIssue({ code: 'custom', path: [...partsOf(name)], message });
  return policy;
});
