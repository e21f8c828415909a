import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { planOf, type CrashPlan } from '#test/crash/plan.ts';
import { lastLine, seedLines } from '#test/crash/report.ts';
import { runPlan, type RunOptions } from '#test/crash/run-plan.ts';
import { recordOf } from '#test/crash/seeds-done.ts';
import { SABOTEURS, saboteurNames, type Saboteur } from '#test/crash/saboteurs.ts';

/** All seeds and saboteurs run at once: a machine of two cores may be busy with them for long. */
const SLOWEST_MS = 900_000;
const QUIET_MS = 300_000;

/** The short, fixed part of the crash proof; `npm run test:crash` runs as many seeds as are asked for. */
const SEEDS = [4, 27] as const;

beforeAll(() => mkdirSync(join(import.meta.dirname, '../artifacts'), { recursive: true }));

async function run(plan: CrashPlan, options: Omit<RunOptions, 'servers'> = {}) {
  const report = await runPlan(plan, { servers: inject('servers'), quietMs: QUIET_MS, ...options });
  process.stdout.write(`${seedLines(report).join('\n')}\n`);
  return report;
}

describe.concurrent('the crash proof', { timeout: SLOWEST_MS }, () => {
  it.each(SEEDS)('finds nothing to complain of in seed %i', async (seed) => {
    const report = await run(planOf(seed));
    expect(report.violations).toEqual([]);
    expect(report.fired.length).toBeGreaterThan(0);
    expect(lastLine([recordOf(report, { plans: 'test', commit: 'test' })]).text).toMatch(/^1 seeds run, \d+ faults fired, \d+ pieces of work done, 0 violations$/);
  });

  it.each(saboteurNames.filter((name) => !isDraft(SABOTEURS[name])))('reports the saboteur %s, and nothing without it', async (name) => {
    const { plan, sabotage, caughtBy, isStillSo = false }: Saboteur = SABOTEURS[name];
    const [sabotaged, honest] = await Promise.all([run(plan, { sabotage }), isStillSo ? undefined : run(plan)]);
    expect(sabotaged.violations).toContainEqual(expect.stringMatching(caughtBy));
    expect(honest?.violations ?? []).toEqual([]);
  });
});

function isDraft(saboteur: Saboteur): boolean {
  return saboteur.isDraft === true;
}
