import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { planOf, type CrashPlan } from '#test/crash/plans/plan.ts';
import { lastLine, seedLines } from '#test/crash/report.ts';
import { runPlan, type RunOptions } from '#test/crash/run/run-plan.ts';
import type { Saboteur } from '#test/crash/saboteur.ts';
import { SABOTEURS, saboteurNames } from '#test/crash/saboteurs.ts';
import { recordOf } from '#test/crash/seeds-done.ts';

/** Time limit for a machine with two cores. */
const SLOWEST_MS = 1_800_000;
const QUIET_MS = 600_000;

/** The short, fixed part of the crash proof. `npm run test:crash` runs any number of seeds. */
const SEED = 27;

mkdirSync(join(import.meta.dirname, '../artifacts'), { recursive: true });

async function run(plan: CrashPlan, options: Omit<RunOptions, 'servers'> = {}) {
  const report = await runPlan(plan, { servers: inject('servers'), quietMs: QUIET_MS, ...options });
  process.stdout.write(`${seedLines(report).join('\n')}\n`);
  return report;
}

describe.concurrent('the crash proof', { timeout: SLOWEST_MS }, () => {
  it('finds no violation in a seed', async () => {
    const report = await run(planOf(SEED));
    expect(report.violations).toEqual([]);
    expect(report.fired.length).toBeGreaterThan(0);
    const { text } = lastLine([recordOf(report, { plans: 'test', commit: 'test' })]);
    expect(text).toMatch(/^1 seeds run, \d+ faults fired, \d+ pieces of work done, 0 violations$/);
  });

  // Apart from the defect, their plans are like those of seeds. The seeds show that such plans pass, and so does
  // `npm run test:crash -- --saboteur NAME --without-defect`.
  it.each(saboteurNames)('reports the saboteur %s', async (name) => {
    const { plan, sabotage, stuckAfterMs = QUIET_MS, caughtBy }: Saboteur = SABOTEURS[name];
    const { violations } = await run(plan, { sabotage, quietMs: stuckAfterMs });
    expect(violations).toContainEqual(expect.stringMatching(caughtBy));
  });
});
