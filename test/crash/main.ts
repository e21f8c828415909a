/** `npm run test:crash`: the crash proof over as many seeds as are asked for. What it proves: `docs/crash-proof.md`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { planOf } from '#test/crash/plan.ts';
import { lastLine, seedLines, summaryDocument, suiteViolations } from '#test/crash/report.ts';
import { runPlan, type SeedReport } from '#test/crash/run-plan.ts';
import { isSaboteur, SABOTEURS, saboteurNames } from '#test/crash/saboteurs.ts';
import { startSharedServers, type SharedServers } from '#test/support/shared-servers.ts';

const USAGE = `npm run test:crash -- [--seeds N] [--first-seed K] [--lanes L] [--out FILE] [--saboteur ${saboteurNames.join('|')}]`;

for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]] as const) process.once(signal, () => process.exit(code));
/** Minutes, so that nothing but work that hangs reaches it, however busy the machine is. */
const QUIET_MS = 300_000;

mkdirSync(join(import.meta.dirname, '../artifacts'), { recursive: true });
/** A Temporal server of one machine remembers every seed: after 160 of them it had 1.8 GB, and stopped answering. */
const SEEDS_PER_SERVER = 50;

const options = readOptions();
process.exitCode = options.saboteur === undefined ? await prove() : await sabotage(options.saboteur);

async function withServers<Result>(work: (servers: SharedServers) => Promise<Result>): Promise<Result> {
  const { servers, stop } = await startSharedServers();
  try {
    return await work(servers);
  } finally {
    await stop();
  }
}

async function prove(): Promise<number> {
  const began = new Date();
  const seeds = Array.from({ length: options.seeds }, (_, index) => options.firstSeed + index);
  const reports: SeedReport[] = [];
  const lane = async (shared: SharedServers, left: ArrayIterator<number>) => {
    for (const seed of left) {
      const report = await runPlan(planOf(seed), { servers: shared, quietMs: QUIET_MS });
      reports.push(report);
      print(seedLines(report));
      // After each seed, so that a run that is cut off leaves what it found.
      if (options.out !== undefined) writeFileSync(resolve(options.out), summaryDocument({ began, ended: new Date(), command: commandLine(), reports: inOrder(reports) }));
    }
  };
  for (let start = 0; start < seeds.length; start += SEEDS_PER_SERVER) {
    const left = seeds.slice(start, start + SEEDS_PER_SERVER).values();
    await withServers((shared) => Promise.all(Array.from({ length: options.lanes }, () => lane(shared, left))));
  }
  print(suiteViolations(reports));
  const { text, violations } = lastLine(reports);
  print([text]);
  return violations > 0 ? 1 : 0;
}

/** One thing is wrong on purpose: the exit code must be 1. */
async function sabotage(name: string): Promise<number> {
  if (!isSaboteur(name)) return usage(`There is no saboteur ${JSON.stringify(name)}.`);
  const { plan, sabotage: wrong } = SABOTEURS[name];
  const report = await withServers((servers) => runPlan(plan, { servers, sabotage: wrong }));
  print(seedLines(report));
  print([lastLine([report]).text]);
  return report.violations.length > 0 ? 1 : 0;
}

function inOrder(reports: readonly SeedReport[]): SeedReport[] {
  return reports.toSorted((left, right) => left.plan.seed - right.plan.seed);
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        seeds: { type: 'string', default: '10' },
        'first-seed': { type: 'string', default: '1' },
        lanes: { type: 'string', default: String(2 * availableParallelism()) },
        out: { type: 'string' },
        saboteur: { type: 'string' },
      },
    });
    const [seeds, firstSeed, lanes] = [values.seeds, values['first-seed'], values.lanes].map(Number);
    for (const number of [seeds, firstSeed, lanes]) {
      if (number === undefined || !Number.isSafeInteger(number) || number < 1) throw new Error('seeds, first seed and lanes are numbers from 1');
    }
    return { seeds: seeds ?? 1, firstSeed: firstSeed ?? 1, lanes: lanes ?? 1, out: values.out, saboteur: values.saboteur };
  } catch (error) {
    return process.exit(usage(error instanceof Error ? error.message : String(error)));
  }
}

function usage(problem: string): number {
  process.stderr.write(`${problem}\n${USAGE}\n`);
  return 64;
}

function commandLine(): string {
  return `npm run test:crash -- --seeds ${options.seeds} --first-seed ${options.firstSeed}${options.out === undefined ? '' : ` --out ${options.out}`}`;
}

function print(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
