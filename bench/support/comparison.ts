import type { Limit, ScenarioResult } from '#bench/results.ts';
import { median, rounded, spreadOf } from '#bench/support/statistics.ts';

interface Common {
  readonly id: string;
  readonly measured: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  /** Without one, the figure is only reported. */
  readonly limit?: Limit;
  readonly details?: Readonly<Record<string, number>>;
  /** Lines of a plot; see the results. */
  readonly series?: ScenarioResult['series'];
}

export interface Comparison extends Common {
  /** One figure per round, in the order of the rounds. */
  readonly ours: readonly number[];
  readonly peer: { readonly id: string; readonly measured: string; readonly rounds: readonly number[] };
}

export interface Measurement extends Common {
  readonly values: readonly number[];
}

/** Ours against a peer. @throws RangeError unless both took part in every round. */
export function compare(comparison: Comparison): ScenarioResult {
  const { ours, peer } = comparison;
  if (ours.length !== peer.rounds.length) throw new RangeError('a round lacks one of its contestants');
  const ratios = ours.map((value, round) => value / (peer.rounds[round] ?? Number.NaN));
  const ratio = median(ratios);
  return {
    ...resultOf(comparison, ours, comparison.limit?.of === 'value' ? median(ours) : ratio),
    peer: {
      id: peer.id,
      measured: peer.measured,
      value: rounded(median(peer.rounds)),
      spread: roundedSpread(peer.rounds),
    },
    ratio_to_peer: { value: rounded(ratio), ...roundedSpread(ratios) },
  };
}

/** Something of ours alone, against its limit. */
export function measure(measurement: Measurement): ScenarioResult {
  if (measurement.limit?.of === 'ratio_to_peer') throw new RangeError('without a peer the limit is one of the value');
  const { values } = measurement;
  return { ...resultOf(measurement, values, median(values)), peer: null, ratio_to_peer: null };
}

function resultOf(
  { id, measured, unit, better, limit, details = {}, series = {} }: Common,
  values: readonly number[],
  limited: number,
): Omit<ScenarioResult, 'peer' | 'ratio_to_peer'> {
  return {
    id,
    measured,
    unit,
    better,
    value: rounded(median(values)),
    spread: roundedSpread(values),
    rounds: values.length,
    limit: limit ?? null,
    ratio_to_limit: limit === undefined ? null : rounded(limited / limit.amount),
    limit_met: limit === undefined ? null : isMet(limit, limited),
    series,
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, rounded(value)])),
  };
}

function isMet({ bound, amount }: Limit, value: number): boolean {
  return bound === 'at_least' ? value >= amount : value <= amount;
}

function roundedSpread(values: readonly number[]) {
  const { min, max } = spreadOf(values);
  return { min: rounded(min), max: rounded(max) };
}
