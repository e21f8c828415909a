import * as z from 'zod';
import { readDuration } from '#config/fields.ts';
import {
  isRetried,
  leadsToNewAttempt,
  RETRY_BOUNDS,
  retriedClasses,
  type RetriedClass,
  type RetryRule,
  type RetryRules,
} from '#domain/retry/retry-rules.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';

const EXAMPLE = '{"price_above_limit": {"first_delay": "5m", "max_delay": "2h", "total": "48h"}}';
const FIELDS = ['attempts', 'first_delay', 'max_delay', 'total'] as const;
const { attempts: ATTEMPTS, delayMs: DELAY } = RETRY_BOUNDS;
/** The shortest wait is for tests. The longest total time equals the longest deadline of work: 92 days. */
const DURATIONS = {
  first_delay: { min: 1, max: DELAY.max, range: '1ms to 7d' },
  max_delay: { min: 1, max: DELAY.max, range: '1ms to 7d' },
  total: { min: 1, max: RETRY_BOUNDS.deadlineMs, range: '1ms to 92d' },
} as const;

/** Retry rules by failure class, as JSON: `{"supplier_failed": {"attempts": 5, "first_delay": "1m"}}`. */
export function retryRules() {
  return z.string().transform((text, context): RetryRules => {
    const problems: string[] = [];
    const rules = parsed(text, problems);
    for (const message of problems) context.addIssue({ code: 'custom', message });
    return problems.length === 0 ? rules : z.NEVER;
  });
}

/** @param problems receives a message for each error. */
function parsed(text: string, problems: string[]): RetryRules {
  const rules: Partial<Record<RetriedClass, Partial<RetryRule>>> = {};
  for (const [failure, rule] of entries(readJson(text))) {
    if (isRetried(failure)) rules[failure] = ruleOf(failure, rule, problems);
    else problems.push(notRetried(failure));
  }
  if (entries(readJson(text)).length === 0)
    problems.push(`must be a JSON object of rules by failure class, such as ${EXAMPLE}`);
  return rules;
}

function notRetried(failure: string): string {
  const known = `classes with retries are ${retriedClasses.join(', ')}`;
  return Object.hasOwn(FAILURE_CLASSES, failure)
    ? `${failure} has no retries, so it has no rule; ${known}`
    : `there is no failure class ${JSON.stringify(failure.slice(0, 40))}; ${known}`;
}

function ruleOf(failure: RetriedClass, rule: unknown, problems: string[]): Partial<RetryRule> {
  const fields = Object.fromEntries(entries(rule));
  const addProblem = (what: string) => void problems.push(`${failure}: ${what}`);
  const unknown = Object.keys(fields).filter((name) => !(FIELDS as readonly string[]).includes(name));
  if (Object.keys(fields).length === 0 || unknown.length > 0)
    addProblem(`must be an object with some of ${FIELDS.join(', ')}`);
  const duration = (name: keyof typeof DURATIONS): number | undefined => {
    if (fields[name] === undefined) return undefined;
    const { min, max, range } = DURATIONS[name];
    const ms = readDuration(fields[name]);
    if (ms === undefined || ms < min || ms > max)
      addProblem(`${name} must be a duration such as 30s, 10m or 24h, from ${range}`);
    return ms;
  };
  const [firstDelayMs, maxDelayMs, totalMs] = [duration('first_delay'), duration('max_delay'), duration('total')];
  if (firstDelayMs !== undefined && maxDelayMs !== undefined && firstDelayMs > maxDelayMs)
    addProblem('first_delay must not be more than max_delay');
  const attempts = attemptsOf(failure, fields['attempts'], addProblem);
  return {
    ...(attempts !== undefined && { attempts }),
    ...(firstDelayMs !== undefined && { firstDelayMs }),
    ...(maxDelayMs !== undefined && { maxDelayMs }),
    ...(totalMs !== undefined && { totalMs }),
  };
}

function attemptsOf(failure: RetriedClass, attempts: unknown, addProblem: (what: string) => void): number | undefined {
  if (attempts === undefined) return undefined;
  if (!leadsToNewAttempt(failure))
    addProblem(
      'has no attempts, because the same attempt is sent again (classes with attempts are ' +
        `${retriedClasses.filter(leadsToNewAttempt).join(', ')})`,
    );
  if (
    typeof attempts === 'number' &&
    Number.isInteger(attempts) &&
    attempts >= ATTEMPTS.min &&
    attempts <= ATTEMPTS.max
  )
    return attempts;
  addProblem(`attempts must be a whole number from ${ATTEMPTS.min} to ${ATTEMPTS.max}`);
  return undefined;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function entries(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}
