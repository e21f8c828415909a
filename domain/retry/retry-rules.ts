/**
 * How often and how long failures are retried. `domain/work/failure.ts` says which; whether a further send is safe is
 * decided before.
 */
import {
  choice,
  count,
  DAY,
  duration,
  FIRST_WAIT,
  HOUR,
  MINUTE,
  SECOND,
  Setting,
  type Values,
} from '#domain/policy/settings.ts';
import { counted } from '#domain/text.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import { HOLD_REASONS } from '#domain/work/hold-reasons.ts';

type RetriedClass = keyof typeof HOLD_REASONS | 'supplier_failed';

/** What follows when the attempts are used up and provably cost nothing. */
export const WHEN_USED_UP = ['fail', 'ask'] as const;
export type WhenUsedUp = (typeof WHEN_USED_UP)[number];

/** Milliseconds. */
export interface RetryRule {
  /** The first included. A resend of the same attempt does not count. */
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  readonly totalMs: number;
}

/** Only classes that lead to new attempts have `attempts`. */
export type RetryRules = Readonly<Partial<Record<RetriedClass, Partial<RetryRule>>>>;

/** A value outside is probably a typing error. */
export const RETRY_BOUNDS = {
  attempts: { min: 1, max: 20 },
  delayMs: { min: SECOND, max: 7 * DAY },
  /** Milliseconds. A quarter: by then the books of the service are closed. */
  deadlineMs: 92 * DAY,
} as const;

/** Durations are in milliseconds. */
export const RETRY_SETTINGS = {
  /** A Retry-After of the service takes precedence. */
  holdDelayMs: duration(
    'retry.hold_delay',
    15 * SECOND,
    'First wait of held work; doubled each time, up to 10 minutes. Some failure classes wait a multiple of it.',
    FIRST_WAIT,
  ),
  holdDelayMaxMs: 10 * MINUTE,
  /** Longer than a day, so that work survives an outage of the service of a day. */
  holdDeadlineMs: duration(
    'retry.hold_deadline',
    48 * HOUR,
    'How long work may be held when the caller named no deadline, and the latest deadline that a caller may name.',
  ),
  maxAttempts: count(
    'retry.max_attempts',
    3,
    [RETRY_BOUNDS.attempts.min, RETRY_BOUNDS.attempts.max],
    'Attempts to buy one order. Each further one needs the proof that those before cost nothing.',
  ),
  attemptDelayMs: duration(
    'retry.attempt_delay',
    30 * SECOND,
    'Wait before a new attempt; doubled each time.',
    FIRST_WAIT,
  ),
  /** The shop can sell something else at once; a person could only order the same again. */
  whenUsedUp: choice(
    'retry.when_attempts_are_used_up',
    WHEN_USED_UP,
    'fail',
    'What follows when every attempt has failed and provably cost nothing: `fail` ends the purchase, `ask` opens ' +
      'a case for a person. A caller may choose the other for one purchase.',
  ),
  retryRules: new Setting<RetryRules | undefined, 'retry.rules'>(
    'retry.rules',
    undefined,
    'Different rules for single failure classes.',
    { kind: 'rules' },
  ),
};

export type RetrySettings = Values<typeof RETRY_SETTINGS>;

/** Only the market ends them: it changes in hours, and each look is a call to the service. */
const BY_THE_HOUR: ReadonlySet<RetriedClass> = new Set(['package_unavailable', 'price_above_limit', 'margin_too_low']);

export const retriedClasses: readonly RetriedClass[] = [
  ...(Object.keys(HOLD_REASONS) as (keyof typeof HOLD_REASONS)[]),
  'supplier_failed',
];

export function isRetried(failure: string | undefined): failure is RetriedClass {
  return (retriedClasses as readonly (string | undefined)[]).includes(failure);
}

export function leadsToNewAttempt(failure: RetriedClass): boolean {
  return FAILURE_CLASSES[failure].disposition === 'new_attempt';
}

/**
 * The total time is the same for all: a caller can rely on one time, whatever the cause.
 * @param failure undefined, or a class that is not retried: the general rule.
 */
export function retryRule(failure: FailureClass | undefined, settings: RetrySettings): RetryRule {
  const { holdDelayMs, holdDelayMaxMs, holdDeadlineMs, maxAttempts, attemptDelayMs, retryRules } = settings;
  const attempts = retryRules?.supplier_failed?.attempts ?? maxAttempts;
  const ofAll = { attempts, ...ordered(holdDelayMs, holdDelayMaxMs), totalMs: holdDeadlineMs };
  if (!isRetried(failure)) return ofAll;
  const { first, longest } = BY_THE_HOUR.has(failure) ? { first: 4, longest: 6 } : { first: 1, longest: 1 };
  const firstDelayMs = first * (leadsToNewAttempt(failure) ? attemptDelayMs : holdDelayMs);
  const { totalMs = holdDeadlineMs, ...delays } = retryRules?.[failure] ?? {};
  return { ...ofAll, ...delayed(ordered(firstDelayMs, longest * holdDelayMaxMs), delays), totalMs };
}

type Delays = Pick<RetryRule, 'firstDelayMs' | 'maxDelayMs'>;

function ordered(firstDelayMs: number, maxDelayMs: number): Delays {
  return { firstDelayMs: Math.min(firstDelayMs, maxDelayMs), maxDelayMs };
}

/** A set first wait applies even above the former longest wait; when both are set, the longest limits the first. */
function delayed(delays: Delays, { firstDelayMs = delays.firstDelayMs, maxDelayMs }: Partial<Delays>): Delays {
  return ordered(firstDelayMs, maxDelayMs ?? Math.max(delays.maxDelayMs, firstDelayMs));
}

/** Valid for every failure; an absent value is as configured. */
export interface RetryOverrides extends Partial<Omit<RetryRule, 'totalMs'>> {
  /** Unix milliseconds; replaces the caller's deadline and every total time. */
  readonly deadlineAt?: number;
}

/** Absent: unchanged. `null`: removed. */
export type RetryChange = { readonly [Name in keyof RetryOverrides]: RetryOverrides[Name] | null };

/** @param granted attempts that operators granted one by one; an override takes precedence. */
export function ruleOfWork(rule: RetryRule, overrides: RetryOverrides, granted = 0): RetryRule {
  return { ...rule, ...delayed(rule, overrides), attempts: overrides.attempts ?? rule.attempts + granted };
}

export function equalWaits(left: RetryRule, right: RetryRule): boolean {
  return left.firstDelayMs === right.firstDelayMs && left.maxDelayMs === right.maxDelayMs;
}

/** All times are in Unix milliseconds. */
export function givesUpAt(
  { acceptedAt, deadlineAt = Infinity }: { readonly acceptedAt: number; readonly deadlineAt?: number | undefined },
  { totalMs }: Pick<RetryRule, 'totalMs'>,
  overrides: RetryOverrides,
): number {
  return overrides.deadlineAt ?? Math.min(deadlineAt, acceptedAt + totalMs);
}

export function changedOverrides(overrides: RetryOverrides, change: RetryChange): RetryOverrides {
  return Object.fromEntries(
    RETRY_OVERRIDES.flatMap((name) => {
      const value = change[name] === undefined ? overrides[name] : change[name];
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );
}

export function equalOverrides(left: RetryOverrides, right: RetryOverrides): boolean {
  return RETRY_OVERRIDES.every((name) => left[name] === right[name]);
}

/** @param deadlineAt Unix milliseconds, as is `now`. */
export function deadlineIsPossible(deadlineAt: number, now: number): boolean {
  return deadlineAt > now && deadlineAt <= now + RETRY_BOUNDS.deadlineMs;
}

/** @param givesUp Unix milliseconds. */
export function retrySentence(
  { attempts, firstDelayMs, maxDelayMs }: RetryRule,
  givesUp: number,
  overrides: RetryOverrides,
): string {
  const set = RETRY_OVERRIDES.filter((name) => overrides[name] !== undefined).map((name) => OVERRIDE_TEXTS[name]);
  const waits =
    firstDelayMs === maxDelayMs
      ? `waits of ${durationText(firstDelayMs)}`
      : `waits of ${durationText(firstDelayMs)} at first, ${durationText(maxDelayMs)} at most`;
  const changed = set.length === 0 ? '' : ` Set by an operator for this one: ${set.join(', ')}.`;
  return (
    `At most ${counted(attempts, 'attempt')}; ${waits}; given up after ` +
    `${new Date(givesUp).toISOString()}.${changed}`
  );
}

const OVERRIDE_TEXTS = {
  attempts: 'the attempts',
  firstDelayMs: 'the first wait',
  maxDelayMs: 'the longest wait',
  deadlineAt: 'the deadline',
} as const satisfies Record<keyof RetryOverrides, string>;
export const RETRY_OVERRIDES = Object.keys(OVERRIDE_TEXTS) as readonly (keyof RetryOverrides)[];

/** In the largest whole unit, such as `90 s` or `2 h`. */
export function durationText(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms >= size && ms % size === 0) ?? (['ms', 1] as const);
  return `${ms / size} ${unit}`;
}

const UNITS = [
  ['d', DAY],
  ['h', HOUR],
  ['min', MINUTE],
  ['s', SECOND],
] as const;
