/** Kinds of settings. Durations are in milliseconds. Free of libraries, because workflows load the tables. */
import type { Money } from '#domain/money/money.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Milliseconds. */
export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** Node runs a timer of more than 24.8 days at once, and a loop that waits for no time occupies a core. */
export const TIMER = { min: 100, max: 24 * DAY } as const satisfies Bounds;
/** For intervals that Temporal applies: it reads zero as no limit. */
export const A_SECOND: Bounds = { min: SECOND };
/** First waits are doubled each time: zero would stay zero. */
export const FIRST_WAIT: Bounds = { min: 10 };

type Kind =
  | { readonly kind: 'duration'; readonly bounds: Bounds }
  | { readonly kind: 'count'; readonly min: number; readonly max: number }
  | { readonly kind: 'choice'; readonly of: readonly [string, ...string[]] }
  | { readonly kind: 'amount' | 'durations' | 'shares' | 'rules' };

export class Setting<Value = unknown, Name extends string = string> {
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

export type Values<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends Setting<infer Value> ? Value : Table[Key];
};

export type SettingNames<Table> = {
  [Key in keyof Table]: Table[Key] extends Setting<unknown, infer Name> ? Name : never;
}[keyof Table];

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

export function amount<Name extends string>(name: Name, description: string): Setting<Money | undefined, Name> {
  return new Setting<Money | undefined, Name>(name, undefined, description, { kind: 'amount' });
}

/** Up to five. @param kind `durations` are in milliseconds. */
export function numbers<Name extends string>(
  name: Name,
  kind: 'shares' | 'durations',
  fallback: readonly number[],
  description: string,
): Setting<readonly number[], Name> {
  return new Setting(name, fallback, description, { kind });
}

export function choice<const Choice extends string, Name extends string>(
  name: Name,
  of: readonly [Choice, ...Choice[]],
  fallback: Choice,
  description: string,
): Setting<Choice, Name> {
  return new Setting(name, fallback, description, { kind: 'choice', of });
}

/** As the policy file contains it: `90s`, `48h`, `7d`. */
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

export function backoffMs(first: number, ceiling: number, n: number): number {
  return Math.min(ceiling, first * 2 ** Math.min(Math.max(n, 1) - 1, 30));
}

/** Changes a wait by up to a fifth, so that waits do not end together. @param spread from 0 to 1. */
export function spreadMs(ms: number, spread: number): number {
  return Math.round(ms * (0.8 + 0.4 * spread));
}
