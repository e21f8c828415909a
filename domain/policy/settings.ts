/**
 * The kinds of settings of the policy file. A table of a policy has a setting for a value that can be configured, and
 * the plain value otherwise. Durations are in milliseconds. Free of libraries, because workflows load the tables.
 */
import type { Money } from '#domain/money/money.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The shortest and the longest valid duration, in milliseconds. */
export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/**
 * Bounds of durations that become a timer of a process. Node runs a timer of more than 24.8 days at once, and a loop
 * that waits for no time occupies a core.
 */
export const TIMER = { min: 100, max: 24 * DAY } as const satisfies Bounds;
/** Bounds of the intervals of schedules, and of time limits, that Temporal applies. It reads zero as no limit. */
export const A_SECOND: Bounds = { min: SECOND };
/** Bounds of first waits that are doubled each time: zero would stay zero. */
export const FIRST_WAIT: Bounds = { min: 10 };

type Kind =
  | { readonly kind: 'duration'; readonly bounds: Bounds }
  | { readonly kind: 'count'; readonly min: number; readonly max: number }
  | { readonly kind: 'choice'; readonly of: readonly [string, ...string[]] }
  | { readonly kind: 'amount' | 'durations' | 'shares' | 'rules' };

/** One setting of the policy file. */
export class Setting<Value = unknown, Name extends string = string> {
  /** Its whole name, such as `retry.hold_delay`. */
  readonly name: Name;
  readonly fallback: Value;
  readonly description: string;
  readonly form: Kind;

  constructor(name: Name, fallback: Value, description: string, form: Kind) {
    this.name = name;
    this.fallback = fallback;
    this.description = description;
    this.form = form;
  }
}

function isSetting(value: unknown): value is Setting {
  return value instanceof Setting;
}

/** The values of a table: of its settings, and those that cannot be configured. */
export type Values<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends Setting<infer Value> ? Value : Table[Key];
};

/** The names of the settings of a table. */
export type SettingNames<Table> = {
  [Key in keyof Table]: Table[Key] extends Setting<unknown, infer Name> ? Name : never;
}[keyof Table];

/** @param valueOf the value of a setting; default: its own default. */
export function valuesOf<Table extends object>(
  table: Table,
  valueOf: (setting: Setting) => unknown = ({ fallback }) => fallback,
): Values<Table> {
  const entries: [string, unknown][] = Object.entries(table);
  const values = entries.map(([key, each]) => [key, isSetting(each) ? valueOf(each) : each]);
  return Object.fromEntries(values) as Values<Table>;
}

/** @param fallback milliseconds. */
export function duration<Name extends string>(
  name: Name,
  fallback: number,
  description: string,
  bounds: Bounds = {},
): Setting<number, Name> {
  return new Setting(name, fallback, description, { kind: 'duration', bounds });
}

export function count<Name extends string>(
  name: Name,
  fallback: number,
  [min, max]: readonly [number, number],
  description: string,
): Setting<number, Name> {
  return new Setting(name, fallback, description, { kind: 'count', min, max });
}

/** An amount with its currency; undefined without one. */
export function amount<Name extends string>(name: Name, description: string): Setting<Money | undefined, Name> {
  return new Setting<Money | undefined, Name>(name, undefined, description, { kind: 'amount' });
}

/** Up to five shares, from 0 to 1. */
export function shares<Name extends string>(
  name: Name,
  fallback: readonly number[],
  description: string,
): Setting<readonly number[], Name> {
  return new Setting(name, fallback, description, { kind: 'shares' });
}

/** Up to five durations, in milliseconds. */
export function durations<Name extends string>(
  name: Name,
  fallback: readonly number[],
  description: string,
): Setting<readonly number[], Name> {
  return new Setting(name, fallback, description, { kind: 'durations' });
}

export function choice<const Choice extends string, Name extends string>(
  name: Name,
  of: readonly [Choice, ...Choice[]],
  fallback: Choice,
  description: string,
): Setting<Choice, Name> {
  return new Setting(name, fallback, description, { kind: 'choice', of });
}

/** A duration as the policy file contains it: `90s`, `48h`, `7d`. @param ms milliseconds. */
export function writeDuration(ms: number): string {
  const units = [
    ['d', DAY, 3 * DAY],
    ['h', HOUR, 1],
    ['m', MINUTE, 1],
    ['s', SECOND, 1],
  ] as const;
  const [unit, size] = units.find(([, size, from]) => ms >= from && ms % size === 0) ?? (['ms', 1] as const);
  return `${ms / size}${unit}`;
}

/** The `n`-th wait (from 1) of a doubling series with a ceiling, in milliseconds. */
export function backoffMs(first: number, ceiling: number, n: number): number {
  return Math.min(ceiling, first * 2 ** Math.min(Math.max(n, 1) - 1, 30));
}
