/** The kinds of values of the policy file. Each describes itself for editors, documents and error messages. */
import * as z from 'zod';
import { DURATION, milliseconds, price } from '#config/fields.ts';

const DAY_MS = 86_400_000;
const LONGEST_MS = 3_650 * DAY_MS;
const DURATION_TEXT = 'must be a duration such as 500ms, 20s, 10m, 24h';
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

/** A duration, parsed to milliseconds. @param bounds milliseconds. */
export function durationValue({ min = 0, max = LONGEST_MS }: { min?: number; max?: number } = {}) {
  return z
    .string({ error: DURATION_TEXT })
    .regex(DURATION, DURATION_TEXT)
    .transform(milliseconds)
    .refine((ms) => ms >= min && ms <= max, `must be from ${writeDuration(min)} to ${writeDuration(max)}`);
}

/** A duration with a default. @param fallback milliseconds. @param max milliseconds. */
export function duration(fallback: number, description: string, max = LONGEST_MS) {
  return durationValue({ max }).prefault(writeDuration(fallback)).meta({ description });
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
