/** Versioned for readers of old files. */
export const RESULTS_FORMAT = 4;

export interface Spread {
  readonly min: number;
  readonly max: number;
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
  readonly peer: {
    readonly id: string;
    readonly measured: string;
    readonly value: number;
    readonly spread: Spread;
  } | null;
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
  const widths = header.map((title, column) =>
    Math.max(...[header, ...rows].map((row) => (row[column] ?? title).length)),
  );
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
