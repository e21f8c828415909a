/** The file of seeds done: one line of JSON for each seed. The results of all runs add up, also of interrupted runs. */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import type { WorkResult } from '#test/crash/audit/audit.ts';
import { planOf } from '#test/crash/plans/plan.ts';
import { plannedFaults } from '#test/crash/plans/planned-faults.ts';
import type { SeedReport } from '#test/crash/run/run-plan.ts';

export interface SeedRecord {
  readonly seed: number;
  /** Hash of the plans. Results of different plans cannot be compared. */
  readonly plans: string;
  readonly commit: string;
  readonly endedAt: string;
  readonly durationMs: number;
  readonly dialect: string;
  readonly shape: string;
  readonly off: string;
  readonly results: readonly WorkResult[];
  /** Names of faults, once for each plan or occurrence. */
  readonly planned: readonly string[];
  readonly fired: readonly string[];
  readonly violations: readonly string[];
}

/** Number of seeds in the hash. A change of the plans changes some of them. */
const SAMPLE = 300;

export function hashOfPlans(): string {
  const plans = Array.from({ length: SAMPLE }, (_, seed) => planOf(seed + 1));
  return createHash('sha256').update(JSON.stringify(plans)).digest('hex').slice(0, 12);
}

/** @param of the hash of the plans, and the commit of the product. */
export function recordOf(
  { plan, durationMs, results, fired, violations }: SeedReport,
  of: { readonly plans: string; readonly commit: string },
): SeedRecord {
  const { dialect, shape, off } = plan.setting;
  const endedAt = new Date().toISOString();
  const planned = plannedFaults(plan);
  return { seed: plan.seed, ...of, endedAt, durationMs, dialect, shape, off, results, planned, fired, violations };
}

/** Thrown if the file contains seeds of other plans, because the results do not add up. */
export class OtherPlansError extends Error {}

export class SeedsDone {
  readonly #file: string | undefined;
  readonly #records = new Map<number, SeedRecord>();

  /**
   * @param file undefined: the records are only in memory.
   * @param plans hash of the plans of this run.
   * @throws OtherPlansError if the file has seeds of other plans.
   */
  constructor(file: string | undefined, plans: string) {
    this.#file = file;
    if (file === undefined || !existsSync(file)) return;
    const text = readFileSync(file, 'utf8');
    // A line without its end is of an interrupted run. Its seed is not done.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    for (const line of whole.split('\n')) {
      if (line === '') continue;
      const done = JSON.parse(line) as SeedRecord;
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

  get records(): readonly SeedRecord[] {
    return [...this.#records.values()].toSorted((left, right) => left.seed - right.seed);
  }

  has(seed: number): boolean {
    return this.#records.has(seed);
  }

  add(done: SeedRecord): void {
    this.#records.set(done.seed, done);
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(done)}\n`);
  }
}
