import type { LoadResult } from '#bench/drivers/protocol.ts';
import type { ScenarioResult, Spread } from '#bench/results.ts';

interface Common {
  readonly id: string;
  readonly measured: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  readonly details?: Readonly<Record<string, number>>;
}

interface Comparison extends Common {
  readonly ours: readonly number[];
  readonly peer: { readonly id: string; readonly measured: string; readonly rounds: readonly number[] };
}

interface Measurement extends Common {
  readonly values: readonly number[];
}

/** @throws RangeError unless both took part in every round. */
export function compare(comparison: Comparison): ScenarioResult {
  const { ours, peer } = comparison;
  if (ours.length !== peer.rounds.length) throw new RangeError('a round lacks one of its contestants');
  const ratios = ours.map((value, round) => value / (peer.rounds[round] ?? Number.NaN));
  return {
    ...resultOf(comparison, ours),
    peer: {
      id: peer.id,
      measured: peer.measured,
      value: rounded(median(peer.rounds)),
      spread: roundedSpread(peer.rounds),
    },
    ratio_to_peer: { value: rounded(median(ratios)), ...roundedSpread(ratios) },
  };
}

export function measure(measurement: Measurement): ScenarioResult {
  return { ...resultOf(measurement, measurement.values), peer: null, ratio_to_peer: null };
}

function resultOf(
  { id, measured, unit, better, details = {} }: Common,
  values: readonly number[],
): Omit<ScenarioResult, 'peer' | 'ratio_to_peer'> {
  return {
    id,
    measured,
    unit,
    better,
    value: rounded(median(values)),
    spread: roundedSpread(values),
    rounds: values.length,
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, rounded(value)])),
  };
}

function roundedSpread(values: readonly number[]) {
  const { min, max } = spreadOf(values);
  return { min: rounded(min), max: rounded(max) };
}

export function rates(rounds: readonly LoadResult[]): number[] {
  return rounds.map(({ elapsedMs, latenciesMs }) => latenciesMs.length / (elapsedMs / 1_000));
}

export function medians(rounds: readonly LoadResult[]): number[] {
  return rounds.map(({ latenciesMs }) => percentile(latenciesMs, 0.5));
}

/** @param tail between the median and the highest. */
export function latencies(rounds: readonly LoadResult[], tail: 95 | 99): Record<string, number> {
  const all = rounds.flatMap(({ latenciesMs }) => latenciesMs);
  return { p50_ms: percentile(all, 0.5), [`p${tail}_ms`]: percentile(all, tail / 100), max_ms: percentile(all, 1) };
}

/** The order is A B C C B A …, so that other work on the machine meets all. Round 0 warms up and is thrown away. */
export async function inTurn<Name extends string, Figures>(
  contestants: Readonly<Record<Name, (round: number) => Promise<Figures>>>,
  rounds: number,
): Promise<Record<Name, Figures[]>> {
  const names = Object.keys(contestants) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as Figures[]])) as Record<Name, Figures[]>;
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const figures = await contestants[name](round);
      if (round > 0) measured[name].push(figures);
    }
  }
  return measured;
}

/** Nearest rank. @throws RangeError when empty. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const found = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (found === undefined) throw new RangeError('no values');
  return found;
}

/** @throws RangeError when empty. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError('no values');
  return (lower + upper) / 2;
}

function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError('no values');
  return { min: Math.min(...values), max: Math.max(...values) };
}

/** Three significant digits: more would claim a precision that a shared machine does not have. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
