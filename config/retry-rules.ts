import * as z from 'zod';
import { readDuration } from '#config/fields.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import {
  isRetried,
  leadsToNewAttempt,
  RETRY_BOUNDS,
  retriedClasses,
  type RetriedClass,
  type RetryRule,
  type RetryRules,
} from '#domain/work/retry-rules.ts';

const EXAMPLE = '{"price_above_limit": {"first_delay": "5m", "max_delay": "2h", "total": "48h"}}';
const FIELDS = ['attempts', 'first_delay', 'max_delay', 'total'] as const;
const { attempts: ATTEMPTS, delayMs: DELAY } = RETRY_BOUNDS;
/** The shortest wait is for tests. The longest total time is the same as for one piece of work: 92 days. */
const DURATIONS = {
  first_delay: { min: 1, max: DELAY.max, words: '1ms to 7d' },
  max_delay: { min: 1, max: DELAY.max, words: '1ms to 7d' },
  total: { min: 1, max: RETRY_BOUNDS.deadlineMs, words: '1ms to 92d' },
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
    problems.push(`must be a JSON object of rules by class of failure, such as ${EXAMPLE}`);
  return rules;
}

function notRetried(failure: string): string {
  const known = `those that are tried again are ${retriedClasses.join(', ')}`;
  return Object.hasOwn(FAILURE_CLASSES, failure)
    ? `what fails with ${failure} is not tried again, so it has no rule; ${known}`
    : `there is no class of failure ${JSON.stringify(failure.slice(0, 40))}; ${known}`;
}

function ruleOf(failure: RetriedClass, rule: unknown, problems: string[]): Partial<RetryRule> {
  const fields = Object.fromEntries(entries(rule));
  const say = (what: string) => void problems.push(`${failure}: ${what}`);
  const unknown = Object.keys(fields).filter((name) => !(FIELDS as readonly string[]).includes(name));
  if (Object.keys(fields).length === 0 || unknown.length > 0)
    say(`must be an object with some of ${FIELDS.join(', ')}`);
  const duration = (name: keyof typeof DURATIONS): number | undefined => {
    if (fields[name] === undefined) return undefined;
    const { min, max, words } = DURATIONS[name];
    const ms = readDuration(fields[name]);
    if (ms === undefined || ms < min || ms > max)
      say(`${name} must be a duration such as 30s, 10m or 24h, from ${words}`);
    return ms;
  };
  const [firstDelayMs, maxDelayMs, totalMs] = [duration('first_delay'), duration('max_delay'), duration('total')];
  if (firstDelayMs !== undefined && maxDelayMs !== undefined && firstDelayMs > maxDelayMs)
    say('first_delay must not be more than max_delay');
  const attempts = attemptsOf(failure, fields['attempts'], say);
  return {
    ...(attempts !== undefined && { attempts }),
    ...(firstDelayMs !== undefined && { firstDelayMs }),
    ...(maxDelayMs !== undefined && { maxDelayMs }),
    ...(totalMs !== undefined && { totalMs }),
  };
}

function attemptsOf(failure: RetriedClass, attempts: unknown, say: (what: string) => void): number | undefined {
  if (attempts === undefined) return undefined;
  if (!leadsToNewAttempt(failure))
    say(
      'has no attempts: it is the same attempt that is sent again (attempts are those of ' +
        `${retriedClasses.filter(leadsToNewAttempt).join(', ')})`,
    );
  if (
    typeof attempts === 'number' &&
    Number.isInteger(attempts) &&
    attempts >= ATTEMPTS.min &&
    attempts <= ATTEMPTS.max
  )
    return attempts;
  say(`attempts must be a whole number from ${ATTEMPTS.min} to ${ATTEMPTS.max}`);
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
