/** The form of `bench/results/latest.json`: one entry per figure. Versioned, so that a reader of old files knows. */
import * as z from 'zod';

export const RESULTS_FORMAT = 2;

const finite = z.number();
const spread = z.strictObject({ min: finite, max: finite });

const limit = z.strictObject({
  /** What the limit is set for: the value itself, or its ratio to the peer. */
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
  /** Median of the rounds. */
  value: finite,
  /** Lowest and highest round (of memory: reading). */
  spread,
  rounds: z.int().positive(),
  /** Null for a figure that is only reported. */
  limit: limit.nullable(),
  /** What the limit is set for, divided by the limit. */
  ratio_to_limit: finite.nullable(),
  limit_met: z.boolean().nullable(),
  peer: peer.nullable(),
  /** Ours divided by the peer's, round by round, since the two halves of a round met the same machine. */
  ratio_to_peer: z.strictObject({ value: finite, ...spread.shape }).nullable(),
  /** Further figures of the same run, by name; units are in the names. */
  details: z.record(z.string(), finite),
  /** Lines of a plot, by name: x and y of each point. The unit of y is that of the scenario. */
  series: z.record(z.string(), z.array(z.tuple([finite, finite]))),
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
    /** Work of others on this machine while the run began: the lower, the better the figures. */
    load_average_at_start: z.number().nonnegative(),
  }),
  servers: z.strictObject({
    postgresql: z.string(),
    fsync: z.string(),
    synchronous_commit: z.string(),
    /** One row, one commit, one connection: what this machine's disk asks for a durable write. */
    single_insert_ms: z.number().positive(),
    temporal: z.string(),
  }),
  scenarios: z.array(scenario).min(1),
});

export type BenchResults = z.output<typeof benchResults>;
export type ScenarioResult = z.output<typeof scenario>;
export type Limit = z.output<typeof limit>;
export type Spread = z.output<typeof spread>;
