/** The file of seeds done: one line of JSON for each seed. The results of all runs add up, also of interrupted runs. */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import * as z from 'zod';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { WORK_STATUSES } from '#domain/work/lifecycle.ts';
import { planOf } from '#test/crash/plans/plan.ts';
import { plannedFaults } from '#test/crash/plans/planned-faults.ts';
import type { SeedReport } from '#test/crash/run/run-plan.ts';

const typedKeys = <Key extends string>(record: Readonly<Record<Key, unknown>>) => Object.keys(record) as Key[];

const result = z.object({
  id: z.string(),
  kind: z.enum(WORK_KINDS),
  nature: z.enum(['sold', 'fails', 'fails_once']),
  status: z.enum(WORK_STATUSES),
  parkedFor: z.enum(typedKeys(ATTENTION_REASONS)).nullable(),
  obstacle: z.string().optional(),
});

const record = z.object({
  seed: z.int(),
  /** Hash of the plans. Results of different plans cannot be compared. */
  plans: z.string(),
  /** Commit of the product. */
  commit: z.string(),
  endedAt: z.iso.datetime(),
  durationMs: z.number(),
  dialect: z.string(),
  shape: z.string(),
  off: z.string(),
  results: z.array(result),
  /** Names of faults, once for each plan or occurrence. */
  planned: z.array(z.string()),
  fired: z.array(z.string()),
  violations: z.array(z.string()),
});

/** The record of a seed. */
export type SeedRecord = z.output<typeof record>;

/** Number of seeds in the hash. A change of the plans changes some of them. */
const SAMPLE = 300;

/** A short hash of the plans of seeds. */
export function hashOfPlans(): string {
  const plans = Array.from({ length: SAMPLE }, (_, seed) => planOf(seed + 1));
  return createHash('sha256').update(JSON.stringify(plans)).digest('hex').slice(0, 12);
}

/** @param of the hash of the plans, and the commit of the product. */
export function recordOf(
  report: SeedReport,
  of: { readonly plans: string; readonly commit: string },
  endedAt = new Date(),
): SeedRecord {
  const { plan, durationMs, results, fired, violations } = report;
  const { dialect, shape, off } = plan.setting;
  return {
    seed: plan.seed,
    ...of,
    endedAt: endedAt.toISOString(),
    durationMs,
    dialect,
    shape,
    off,
    results: [...results],
    planned: plannedFaults(plan),
    fired: [...fired],
    violations: [...violations],
  };
}

/** Thrown if the file contains seeds of other plans, because the results do not add up. */
export class OtherPlansError extends Error {}

export class SeedsDone {
  readonly #file: string | undefined;
  readonly #records = new Map<number, SeedRecord>();

  /**
   * @param file undefined: the records are only in memory.
   * @param plans hash of the plans of this run.
   * @throws OtherPlansError if the file has seeds of other plans, ZodError if a line has another form.
   */
  constructor(file: string | undefined, plans: string) {
    this.#file = file;
    if (file === undefined || !existsSync(file)) return;
    const text = readFileSync(file, 'utf8');
    // A line without its end is of an interrupted run. Its seed is not done.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    for (const line of whole.split('\n')) {
      if (line === '') continue;
      const done = record.parse(JSON.parse(line));
      if (done.plans !== plans) {
        throw new OtherPlansError(
          `${file} has seed ${done.seed} of the plans ${done.plans}; these are ${plans}. ` +
            'Name another file: they do not add up.',
        );
      }
      this.#records.set(done.seed, done);
    }
    // The next record must start on its own line.
    if (whole !== text) truncateSync(file, Buffer.byteLength(whole));
  }

  /** The records, ordered by seed. */
  get records(): readonly SeedRecord[] {
    return [...this.#records.values()].toSorted((left, right) => left.seed - right.seed);
  }

  /** @param again if true, seeds with violations count as not done. */
  has(seed: number, { again }: { readonly again: boolean }): boolean {
    const done = this.#records.get(seed);
    return done !== undefined && !(again && done.violations.length > 0);
  }

  add(done: SeedRecord): void {
    this.#records.set(done.seed, done);
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(done)}\n`);
  }
}
