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

/** @param read undefined: it refuses the text with `hint`. */
export function parser<Value>(read: (text: string) => Value | undefined, hint: string): (text: string) => Value {
  return (text) => {
    const value = read(text);
    if (value === undefined) throw new InvalidArgumentError(hint);
    return value;
  };
}

/** Without signs and fractions. */
export function wholeNumber(least: number, most: number, hint: string): (text: string) => number {
  const within = (value: number) => (value >= least && value <= most ? value : undefined);
  return parser((text) => (/^\d+$/.test(text) ? within(Number(text)) : undefined), hint);
}

/** Undoes a change. Null means an option without a value to commander. */
export const AS_CONFIGURED = 'configured';
export type OrConfigured<Value> = Value | typeof AS_CONFIGURED;

function orConfigured<Value>(parse: (text: string) => Value): (text: string) => OrConfigured<Value> {
  return (text) => (text === AS_CONFIGURED ? text : parse(text));
}

/** Milliseconds. */
export const duration = parser(
  (text) => durationMs('0s').safeParse(text).data,
  'Use a duration such as 0s, 30m or 24h.',
);

export const waitSeconds = orConfigured(
  parser((text) => {
    const seconds = duration(text) / 1_000;
    return Number.isInteger(seconds) ? seconds : undefined;
  }, 'Use whole seconds, such as 30s, 10m or 24h, or configured.'),
);

export const attemptCount = orConfigured(wholeNumber(0, 999, 'Use a number such as 5, or configured.'));

export const deadline = orConfigured(
  parser(momentIn, 'Use a time with its offset, such as 2030-01-31T12:00:00Z, or configured.'),
);

export const moment = parser(momentIn, 'Use a time with its offset, such as 2030-01-31T12:00:00Z.');

function momentIn(text: string): string | undefined {
  const [, date] = /^(\d{4}-\d{2}-\d{2})T.*(?:Z|[+-]\d{2}:\d{2})$/.exec(text) ?? [];
  if (date === undefined || Number.isNaN(Date.parse(text)) || Number.isNaN(Date.parse(date))) return undefined;
  // A 30th of February parses, as the 2nd of March.
  return new Date(date).toISOString().startsWith(date) ? text : undefined;
}

/** Milliseconds. */
export const overlap = parser((text) => {
  const ms = duration(text);
  return ms <= MAX_WEBHOOK_SECRET_OVERLAP_MS ? ms : undefined;
}, 'Use 30d at most.');

export const id = wholeNumber(0, Number.MAX_SAFE_INTEGER, 'Use a number from the package list.');

export function ids(list: string): number[] {
  return list.split(',').map(id);
}

/** An empty path may come from a variable that is not set. */
export const path = parser((text) => (text.trim() === '' ? undefined : text), 'It is empty.');

export const entries = wholeNumber(1, 999_999, 'Use a number from 1 to 999999.');

/** A whole key is refused: other processes can read the command line. */
export const keyPrefix = parser(
  (text) => /^(?:rsk_(?:test_|live_)?)?([0-9A-Za-z]{8})$/.exec(text)?.[1],
  'Use the eight characters between the last two underscores of the key, never the whole key.',
);

export const days = wholeNumber(1, 3650, 'Use a number of days from 1 to 3650.');

export const requestsPerMinute = wholeNumber(1, 9_999_999, 'Use a number of requests a minute, such as 600.');

export const percentage = wholeNumber(0, 100, 'Use a whole number from 0 to 100.');

/** Such as `12.50 USD`. @returns undefined for another form. */
export function moneyIn(text: string): { readonly amount: string; readonly currency: string } | undefined {
  const [, amount, currency] = /^([\d.]+) ?([A-Za-z]{3})$/.exec(text.trim()) ?? [];
  return amount === undefined || currency === undefined ? undefined : { amount, currency: currency.toUpperCase() };
}
