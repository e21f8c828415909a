/** Readers of values throw InvalidArgumentError. */
import { type Command, Option, InvalidArgumentError } from 'commander';
import { impliedFolder } from '#cli/data-folder/data-folder.ts';
import type { Environment } from '#config/environment.ts';
import { durationMs } from '#config/variable-types.ts';
import { MAX_WEBHOOK_SECRET_OVERLAP_MS } from '#domain/policy/webhook-policy.ts';

export interface SetUpOption {
  readonly data?: string;
}

export type EnvironmentFor = (option: SetUpOption) => Promise<Environment>;

/**
 * Calls the function with `first`, the arguments, the options and the environment. Its module is loaded on use. A
 * number that it returns is the exit code.
 */
export function run<Name extends string>(
  load: () => Promise<Readonly<Record<Name, (...given: never[]) => unknown>>>,
  name: Name,
  environment: Environment | EnvironmentFor,
  ...first: readonly unknown[]
): (...typed: unknown[]) => Promise<void> {
  // The last that commander gives is the command, before it the options.
  return async (...typed) => {
    const given = [...first, ...typed.slice(0, -1)];
    const of = typeof environment === 'function' ? await environment(typed.at(-2) as SetUpOption) : environment;
    const action = (await load())[name] as (...given: readonly unknown[]) => unknown;
    const code = await action(...given, of);
    if (typeof code === 'number') process.exitCode = code;
  };
}

/** Takes --data and --api at every place of a command line. @param onImplied gets the folder found without --data. */
export function withInstallationOptions(
  program: Command,
  environment: Environment,
  onImplied: (folder: string) => void,
): Command {
  return program
    .option(
      '--data <folder>',
      'work on the `npm start` that runs on this folder (default: the installation of the environment variables, ' +
        'or else the `npm start` on .data)',
      path,
    )
    .option('--api <url>', 'address of the REST API, for commands that call it (default: RESELLER_URL, or the above)')
    .hook('preAction', (_program, command) => {
      const { data, api } = program.opts<{ data?: string; api?: string }>();
      const implied = data === undefined ? impliedFolder(environment) : undefined;
      if (implied !== undefined) onImplied(implied);
      command.setOptionValue('data', data ?? implied);
      command.setOptionValue('api', api);
    });
}

export function withFormatOptions(command: Command): Command {
  return command
    .addOption(new Option('--json', 'print JSON, as the API sends it').conflicts('csv'))
    .option('--csv', 'print CSV with field names');
}

export const REASON = ['--reason <text>', 'reason, shown in the timeline; no personal data'] as const;

/** Milliseconds. */
export function duration(text: string): number {
  const parsed = durationMs('0s').safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError('Use a duration such as 0s, 30m or 24h.');
}

/** Undoes a change. Null means an option without a value to commander. */
export const AS_CONFIGURED = 'configured';
export type OrConfigured<Value> = Value | typeof AS_CONFIGURED;

export function waitSeconds(text: string): OrConfigured<number> {
  if (text === AS_CONFIGURED) return text;
  const seconds = duration(text) / 1_000;
  if (Number.isInteger(seconds)) return seconds;
  throw new InvalidArgumentError('Use whole seconds, such as 30s, 10m or 24h, or configured.');
}

export function attemptCount(text: string): OrConfigured<number> {
  if (text === AS_CONFIGURED) return text;
  if (/^[0-9]{1,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Use a number such as 5, or configured.');
}

export function deadline(text: string): string {
  if (text === AS_CONFIGURED || isMoment(text)) return text;
  throw new InvalidArgumentError('Use a time with its offset, such as 2030-01-31T12:00:00Z, or configured.');
}

export function moment(text: string): string {
  if (isMoment(text)) return text;
  throw new InvalidArgumentError('Use a time with its offset, such as 2030-01-31T12:00:00Z.');
}

function isMoment(text: string): boolean {
  const [, date] = /^(\d{4}-\d{2}-\d{2})T.*(?:Z|[+-]\d{2}:\d{2})$/.exec(text) ?? [];
  if (date === undefined || Number.isNaN(Date.parse(text)) || Number.isNaN(Date.parse(date))) return false;
  // A 30th of February parses, as the 2nd of March.
  return new Date(date).toISOString().startsWith(date);
}

/** Milliseconds. */
export function overlap(text: string): number {
  const ms = duration(text);
  if (ms <= MAX_WEBHOOK_SECRET_OVERLAP_MS) return ms;
  throw new InvalidArgumentError('Use 30d at most.');
}

export function id(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  throw new InvalidArgumentError('Use a number from the package list.');
}

/** An empty path may come from a variable that is not set. */
export function path(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It is empty.');
}

export function entries(text: string): number {
  const count = Number(text);
  if (/^[0-9]{1,6}$/.test(text) && count > 0) return count;
  throw new InvalidArgumentError('Use a number from 1 to 999999.');
}

export function ids(list: string): number[] {
  return list.split(',').map((text) => id(text.trim()));
}

/** A whole key is refused: other processes can read the command line. */
export function keyPrefix(text: string): string {
  const prefix = /^(?:rsk_(?:test_|live_)?)?([0-9A-Za-z]{8})$/.exec(text)?.[1];
  if (prefix !== undefined) return prefix;
  throw new InvalidArgumentError(
    'Use the eight characters between the last two underscores of the key, never the whole key.',
  );
}

export function days(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 3650) return count;
  throw new InvalidArgumentError('Use a number of days from 1 to 3650.');
}

export function requestsPerMinute(text: string): number {
  const count = Number(text);
  if (/^[0-9]{1,7}$/.test(text) && count > 0) return count;
  throw new InvalidArgumentError('Use a number of requests a minute, such as 600.');
}
