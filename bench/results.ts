import type { LoadResult } from '#bench/drivers/protocol.ts';

/** Versioned for readers of old files. */
export const RESULTS_FORMAT = 4;

interface Spread {
  readonly min: number;
  readonly max: number;
}

export interface Peer {
  readonly id: string;
  readonly measured: string;
}

export interface ScenarioResult {
  readonly id: string;
  readonly measured: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  /** Median of the rounds. */
  readonly value: number;
  /** Lowest and highest round (of memory: reading). */
  readonly spread: Spread;
  readonly rounds: number;
  readonly peer: (Peer & { readonly value: number; readonly spread: Spread }) | null;
  /** Round by round: the two halves of a round met the same machine. */
  readonly ratio_to_peer: (Spread & { readonly value: number }) | null;
  /** Units are in the names. */
  readonly details: Readonly<Record<string, number>>;
}

export interface BenchResults {
  readonly format: typeof RESULTS_FORMAT;
  readonly measured_at: string;
  /** `quick` proves that the benchmark works; its figures say nothing. */
  readonly mode: 'full' | 'quick';
  readonly duration_s: number;
  readonly machine: {
    readonly cores: number;
    readonly memory_gib: number;
    readonly platform: string;
    readonly node: string;
    /** Others' work: the lower, the better the figures. */
    readonly load_average_at_start: number;
  };
  readonly servers: {
    readonly postgresql: string;
    readonly fsync: string;
    readonly synchronous_commit: string;
    /** One row, one commit: it shows this machine's durable write. */
    readonly single_insert_ms: number;
    readonly temporal: string;
  };
  readonly scenarios: readonly ScenarioResult[];
}

/** A Markdown table that reads well in a terminal. */
export function reportLines(results: BenchResults): string[] {
  const { machine, servers, mode, scenarios, duration_s: seconds } = results;
  const header = ['scenario', 'ours', 'peer', 'ratio to peer'];
  const rows = scenarios.map((scenario) => [
    scenario.id,
    withSpread(scenario.value, scenario.spread, scenario.unit),
    scenario.peer === null ? '–' : withSpread(scenario.peer.value, scenario.peer.spread, scenario.unit),
    scenario.ratio_to_peer === null ? '–' : withSpread(scenario.ratio_to_peer.value, scenario.ratio_to_peer),
  ]);
  const all = [header, ...rows];
  const widths = header.map((title, column) => Math.max(...all.map((row) => (row[column] ?? title).length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [
    `${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.platform}, Node ${machine.node}, load average ` +
      `${machine.load_average_at_start} at the start; PostgreSQL ${servers.postgresql} (fsync ${servers.fsync}, ` +
      `synchronous_commit ${servers.synchronous_commit}, a single insert takes ${servers.single_insert_ms} ms), ` +
      `Temporal server ${servers.temporal}; ${Math.round(seconds)} s.`,
    ...(mode === 'quick' ? ['A quick run proves that the benchmark works. Its figures say nothing.'] : []),
    '',
    line(header),
    line(widths.map((width) => '-'.repeat(width))),
    ...rows.map(line),
    '',
    'Medians of the rounds, lowest and highest in brackets. Ratios are ours divided by the peer’s, round by round.',
  ];
}

function withSpread(value: number, { min, max }: Spread, unit?: string): string {
  return `${value}${unit === undefined || unit === 'ratio' ? '' : ` ${unit}`} (${min}–${max})`;
}

type Common = Pick<ScenarioResult, 'id' | 'measured' | 'unit' | 'better'> & Partial<Pick<ScenarioResult, 'details'>>;

interface Comparison extends Common {
  readonly ours: readonly number[];
  readonly peer: Peer & { readonly rounds: readonly number[] };
}

/** @throws RangeError unless both took part in every round. */
export function compare(comparison: Comparison): ScenarioResult {
  const { ours, peer } = comparison;
  const { id, measured, rounds } = peer;
  if (ours.length !== rounds.length) throw new RangeError('a round lacks one of its contestants');
  const ratios = ours.map((value, round) => value / (rounds[round] ?? Number.NaN));
  return {
    ...resultOf(comparison, ours),
    peer: { id, measured, value: rounded(median(rounds)), spread: roundedSpread(rounds) },
    ratio_to_peer: { value: rounded(median(ratios)), ...roundedSpread(ratios) },
  };
}

export function measure(measurement: Common & { readonly values: readonly number[] }): ScenarioResult {
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

function roundedSpread(values: readonly number[]): Spread {
  return { min: rounded(Math.min(...values)), max: rounded(Math.max(...values)) };
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

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Three significant digits: more would claim a precision that a shared machine does not have. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
