/** Random combinations of styles and behaviours, by a seed that the name of each test has. */
import { createHash, randomInt } from 'node:crypto';
import { HOUR_MS, type BehaviourCase } from '#test/foreign/cases.ts';
import type { Behaviour } from '#test/foreign/service/behaviour.ts';
import type { StyleName } from '#test/foreign/service/style.ts';

/** Styles of which nothing is held. */
const STYLES = ['plain', 'laravel', 'django', 'rails', 'jsend', 'coded', 'git_like'] as const satisfies StyleName[];

const WALLETS: readonly Behaviour['wallet'][] = [
  {},
  { sinceOffMs: -12 * HOUR_MS },
  { sinceOffMs: 14 * HOUR_MS },
  { clockMs: 15 * 60_000 },
  { clockMs: -15 * 60_000 },
  { cachedMs: 4_000 },
  { rowsAfterMs: 3_000 },
  { cap: { rows: 3, keeps: 'newest' } },
  { cap: { rows: 3, keeps: 'oldest' } },
  { oldestFirst: true },
  { others: true },
  { history: false },
];

/** FOREIGN_SEED repeats a run, and FOREIGN_CASES makes another number of cases. */
export function randomCases(): readonly BehaviourCase[] {
  const seed = Number(process.env['FOREIGN_SEED'] ?? randomInt(1_000_000));
  return Array.from({ length: Number(process.env['FOREIGN_CASES'] ?? 6) }, (_, index) => randomCase(seed + index));
}

function randomCase(seed: number): BehaviourCase {
  const bytes = createHash('sha256').update(`foreign ${seed}`).digest();
  const pick = <Value>(place: number, values: readonly Value[]): Value => {
    const value = values[bytes.readUInt8(place) % values.length];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  };
  const style = pick(0, STYLES);
  const behaviour: Partial<Behaviour> = {
    shows: { document: true, purchases: pick(1, [true, false]) },
    completes: pick(2, ['at_once', 'event', 'read'] as const),
    delivery: pick(3, ['whole', 'codes_later', 'ids_later', 'access_later', 'other_order', 'garbled'] as const),
    unfilled: pick(4, [null, '', 'PENDING'] as const),
    supplier: pick(5, ['delivers', 'credited', 'free', 'late_debit', 'refused'] as const),
    failures: pick(6, [1, 2, 5]),
    wallet: pick(7, WALLETS),
    webhooks: pick(8, ['whole', 'id_only', 'reference_only', 'none'] as const),
    keys: pick(9, ['replayed', 'refused', 'ignored'] as const),
    loses: pick(10, [[], [1], [2], [1, 2]]),
  };
  const what = Object.entries(behaviour).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return { what: `seed ${seed}: ${style}, ${what.join(', ')}`, style, behaviour, ends: {} };
}
