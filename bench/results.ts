/** Versioned for readers of old files. */
import * as z from 'zod';

export const RESULTS_FORMAT = 3;

const finite = z.number();
const spread = z.strictObject({ min: finite, max: finite });

const limit = z.strictObject({
  /** The limit is set for the value itself, or for its ratio to the peer. */
  of: z.enum(['value', 'ratio_to_peer']),
  bound: z.enum(['at_least', 'at_most']),
  amount: z.number().positive(),
  reason: z.string().min(1),
});

const peer = z.strictObject({
  id: z.string().min(1),
  measured: z.string().min(1),
  /** Median of the rounds, in the unit of the scenario. */
  value: finite,
  spread,
});

const scenario = z.strictObject({
  id: z.string().regex(/^[a-z0-9_]+(\.[a-z0-9_]+)*$/),
  measured: z.string().min(1),
  unit: z.string().min(1),
  better: z.enum(['higher', 'lower']),
  value: finite,
  /** Lowest and highest round (of memory: reading). */
  spread,
  rounds: z.int().positive(),
  /** Null for a figure that is only reported. */
  limit: limit.nullable(),
  ratio_to_limit: finite.nullable(),
  limit_met: z.boolean().nullable(),
  peer: peer.nullable(),
  /** Round by round: the two halves of a round met the same machine. */
  ratio_to_peer: z.strictObject({ value: finite, ...spread.shape }).nullable(),
  /** Units are in the names. */
  details: z.record(z.string(), finite),
});

export const benchResults = z.strictObject({
  format: z.literal(RESULTS_FORMAT),
  measured_at: z.iso.datetime(),
  /** `quick` proves that the benchmark works; its figures say nothing. */
  mode: z.enum(['full', 'quick']),
  duration_s: z.number().nonnegative(),
  machine: z.strictObject({
    cores: z.int().positive(),
    memory_gib: z.number().positive(),
    platform: z.string(),
    node: z.string(),
    /** Others' work: the lower, the better the figures. */
    load_average_at_start: z.number().nonnegative(),
  }),
  servers: z.strictObject({
    postgresql: z.string(),
    fsync: z.string(),
    synchronous_commit: z.string(),
    /** One row, one commit: it shows this machine's durable write. */
    single_insert_ms: z.number().positive(),
    temporal: z.string(),
  }),
  scenarios: z.array(scenario).min(1),
});

export type BenchResults = z.output<typeof benchResults>;
export type ScenarioResult = z.output<typeof scenario>;
export type Limit = z.output<typeof limit>;
export type Spread = z.output<typeof spread>;

/** A Markdown table that reads well in a terminal. */
export function reportLines(results: BenchResults): string[] {
  const { machine, servers, mode, scenarios, duration_s: seconds } = results;
  const header = ['scenario', 'ours', 'peer', 'ratio to peer', 'limit', 'ratio to limit'];
  const rows = scenarios.map((scenario) => [
    scenario.id,
    withSpread(scenario.value, scenario.spread, scenario.unit),
    scenario.peer === null ? '–' : withSpread(scenario.peer.value, scenario.peer.spread, scenario.unit),
    scenario.ratio_to_peer === null ? '–' : withSpread(scenario.ratio_to_peer.value, scenario.ratio_to_peer),
    limitOf(scenario),
    scenario.limit_met === null ? '–' : `${scenario.ratio_to_limit} ${scenario.limit_met ? 'met' : 'MISSED'}`,
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

function withSpread(value: number, { min, max }: { min: number; max: number }, unit?: string): string {
  return `${value}${unit === undefined || unit === 'ratio' ? '' : ` ${unit}`} (${min}–${max})`;
}

function limitOf({ limit, unit }: ScenarioResult): string {
  if (limit === null) return '–';
  const sign = limit.bound === 'at_least' ? '≥' : '≤';
  return limit.of === 'value' && unit !== 'ratio' ? `${sign} ${limit.amount} ${unit}` : `ratio ${sign} ${limit.amount}`;
}
