/** Values of options and arguments, read by commander. */
import { InvalidArgumentError } from 'commander';
import { durationMs } from '#config/fields.ts';
import { MAX_WEBHOOK_SECRET_OVERLAP_MS } from '#domain/policy.ts';

export function duration(text: string): number {
  const parsed = durationMs(0).safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError('Use a duration such as 0s, 30m or 24h.');
}

export function overlap(text: string): number {
  const ms = duration(text);
  if (ms <= MAX_WEBHOOK_SECRET_OVERLAP_MS) return ms;
  throw new InvalidArgumentError('Use 30d at most: whoever wants a longer overlap wants no rotation.');
}

export function id(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  throw new InvalidArgumentError('Use a number, as the package list has it.');
}

export function entries(text: string): number {
  const count = Number(text);
  if (/^[0-9]{1,6}$/.test(text) && count > 0) return count;
  throw new InvalidArgumentError('Use a number from 1 to 999999.');
}

export function ids(list: string): number[] {
  return list.split(',').map((text) => id(text.trim()));
}

/** A whole key has no place on a command line, where other processes see it. */
export function keyPrefix(text: string): string {
  const prefix = /^(?:rsk_)?([0-9A-Za-z]{8})$/.exec(text)?.[1];
  if (prefix !== undefined) return prefix;
  throw new InvalidArgumentError('Use the eight characters between the underscores of the key, and never the whole key.');
}

export function days(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 3650) return count;
  throw new InvalidArgumentError('Use a number of days from 1 to 3650.');
}

export function requestsPerMinute(text: string): number {
  const count = Number(text);
  if (/^[0-9]{1,7}$/.test(text) && count > 0) return count;
  throw new InvalidArgumentError('Use how many requests a minute, such as 600.');
}
