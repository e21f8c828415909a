/** The kinds of values of the policy file. Each describes itself for editors, documents and error messages. */
import * as z from 'zod';
import { DURATION, milliseconds, price } from '#config/fields.ts';

const DAY_MS = 86_400_000;
const LONGEST_MS = 3_650 * DAY_MS;
const DURATION_TEXT = 'must be a duration such as 500ms, 20s, 10m, 24h';

/** The shortest and the longest valid duration, in milliseconds. */
interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/**
 * Bounds of durations that become a timer of a process. Node runs a timer of more than 24.8 days at once, and a loop
 * that waits for no time occupies a core.
 */
export const TIMER = { min: 100, max: 24 * DAY_MS } as const satisfies Bounds;
/** Bounds of the intervals of schedules, and of time limits, that Temporal applies. It reads zero as no limit. */
export const A_SECOND: Bounds = { min: 1_000 };
/** Bounds of first waits that are doubled each time: zero would stay zero. */
export const FIRST_WAIT: Bounds = { min: 10 };

const SHARE = /^\d{1,2}(\.\d{1,2})?%$/;

/** A duration as the policy file contains it: `90s`, `48h`, `7d`. @param ms milliseconds. */
export function writeDuration(ms: number): string {
  const units = [
    ['d', DAY_MS, 3 * DAY_MS],
    ['h', 3_600_000, 1],
    ['m', 60_000, 1],
    ['s', 1_000, 1],
  ] as const;
  const [unit, size] = units.find(([, size, from]) => ms >= from && ms % size === 0) ?? (['ms', 1] as const);
  return `${ms / size}${unit}`;
}

/** A duration, parsed to milliseconds. */
export function durationValue({ min = 0, max = LONGEST_MS }: Bounds = {}) {
  return z
    .string({ error: DURATION_TEXT })
    .regex(DURATION, DURATION_TEXT)
    .transform(milliseconds)
    .refine((ms) => ms >= min && ms <= max, `must be from ${writeDuration(min)} to ${writeDuration(max)}`);
}

/** A duration with a default. @param fallback milliseconds. */
export function duration(fallback: number, description: string, bounds: Bounds = {}) {
  return durationValue(bounds)
    .prefault(writeDuration(fallback))
    .meta({ description: `${description}${boundsText(bounds)}` });
}

function boundsText({ min, max }: Bounds): string {
  if (min !== undefined && max !== undefined) return ` From ${writeDuration(min)} to ${writeDuration(max)}.`;
  if (min !== undefined) return ` At least ${writeDuration(min)}.`;
  return max === undefined ? '' : ` At most ${writeDuration(max)}.`;
}

/** A whole number with a default. */
export function wholeNumber(fallback: number, [min, max]: readonly [number, number], description: string) {
  return wholeNumberValue(min, max).default(fallback).meta({ description });
}

/** A whole number. */
export function wholeNumberValue(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** An amount with its currency, such as `500.00 USD`; undefined without one. */
export function amount(description: string) {
  return price().optional().meta({ description });
}

/** Up to five shares such as `20%`, parsed to numbers from 0 to 1. @param fallback numbers from 0 to 1. */
export function shares(fallback: readonly number[], description: string) {
  const error = 'must be a list of up to five shares such as [20%, 5%]';
  return z
    .array(
      z
        .string({ error })
        .regex(SHARE, error)
        .transform((share) => Number((Number.parseFloat(share) / 100).toFixed(4))),
      { error },
    )
    .max(5, { error })
    .prefault(fallback.map((share) => `${Number((share * 100).toFixed(2))}%`))
    .meta({ description });
}

/** Up to five durations, parsed to milliseconds. @param fallback milliseconds. */
export function durations(fallback: readonly number[], description: string) {
  const error = 'must be a list of up to five durations such as [72h, 24h]';
  return z
    .array(durationValue(), { error })
    .max(5, { error })
    .prefault(fallback.map(writeDuration))
    .meta({ description });
}
