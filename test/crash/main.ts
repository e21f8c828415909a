/** `npm run test:crash`: runs the crash proof over a range of seeds. What it proves: `docs/crash-proof.md`. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { planOf } from '#test/crash/plans/plan.ts';
import { lastLine, seedLines, suiteViolations } from '#test/crash/report.ts';
import { runPlan, type SeedReport } from '#test/crash/run/run-plan.ts';
import type { Saboteur } from '#test/crash/saboteur.ts';
import { SABOTEURS, saboteurNames } from '#test/crash/saboteurs.ts';
import { hashOfPlans, OtherPlansError, recordOf, SeedsDone } from '#test/crash/seeds-done.ts';
import { startSharedServers, type SharedServers } from '#test/support/servers/shared-servers.ts';

/**
 * Long enough for a busy machine: only work that hangs reaches this limit. Longer than `retry.hold_deadline` of the
 * tests: a cancellation whose conditions a service never shows is held until then.
 */
const QUIET_SECONDS = 420;
/** The development server of Temporal keeps every seed in memory. After 160 seeds it used 1.8 GB and did not answer. */
const SEEDS_PER_SERVER = 50;

mkdirSync(join(import.meta.dirname, '../artifacts'), { recursive: true });
const options = readOptions();
process.exitCode = options.saboteur === undefined ? await prove() : await sabotage(options.saboteur);

async function prove(): Promise<number> {
  // Seeds on a cluster are other runs than those of the same number on the development server.
  const plans = `${hashOfPlans()}${options.cluster ? '-cluster' : ''}${options.forgets ? '-forgets' : ''}`;
  const commit = commitOfProduct();
  const done = seedsDone(plans);
  const wanted = Array.from({ length: options.seeds }, (_, index) => options.firstSeed + index);
  const seeds = wanted.filter((seed) => !done.has(seed));
  if (seeds.length < wanted.length)
    print([`${wanted.length - seeds.length} of ${wanted.length} seeds are done already`]);
  let notRun = 0;
  const lane = async (servers: SharedServers, left: ArrayIterator<number>) => {
    for (const seed of left) {
      const report = await reportOf(seed, servers);
      if (report === undefined) {
        notRun += 1;
        continue;
      }
      done.add(recordOf(report, { plans, commit }));
      print(seedLines(report));
    }
  };
  for (let start = 0; start < seeds.length; start += SEEDS_PER_SERVER) {
    const left = seeds.slice(start, start + SEEDS_PER_SERVER).values();
    await using shared = await startSharedServers();
    await Promise.all(Array.from({ length: options.lanes }, () => lane(shared.servers, left)));
  }
  print(suiteViolations(done.records));
  const { text, violations } = lastLine(done.records);
  print([text]);
  return violations > 0 || notRun > 0 ? 1 : 0;
}

/** @returns undefined if the seed could not finish, for example on an overloaded machine. It counts as not done. */
async function reportOf(seed: number, servers: SharedServers): Promise<SeedReport | undefined> {
  try {
    const { quietMs, cluster, forgets } = options;
    return await runPlan(planOf(seed), { servers, quietMs, cluster, forgets });
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    print([`seed ${seed} could not be run to its end: ${reason}`]);
    return undefined;
  }
}

function seedsDone(plans: string): SeedsDone {
  try {
    return new SeedsDone(options.done === undefined ? undefined : resolve(options.done), plans);
  } catch (error) {
    if (!(error instanceof OtherPlansError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(64);
  }
}

/** For example `8ac0889`, followed by `+` if there are uncommitted changes. */
function commitOfProduct(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
    const changes = git('status', '--porcelain', '--untracked-files=no');
    return `${git('rev-parse', '--short', 'HEAD')}${changes === '' ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
}

/**
 * Runs the plan of a deliberate defect, with it or without it.
 * @returns the exit code: 1 if the proof detects the defect. Without the defect, 1 if there is a violation or if a
 *   planned fault of a process did not occur, because the plan then proves nothing.
 */
async function sabotage(name: string): Promise<number> {
  const known: Partial<Readonly<Record<string, Saboteur>>> = SABOTEURS;
  const saboteur = known[name];
  if (saboteur === undefined) throw new Error(`there is no saboteur ${name}; there are: ${saboteurNames.join(', ')}`);
  const { plan, sabotage: wrong, stuckAfterMs = options.quietMs } = saboteur;
  const run = options.withoutDefect ? { quietMs: options.quietMs } : { sabotage: wrong, quietMs: stuckAfterMs };
  await using shared = await startSharedServers();
  const report = await runPlan(plan, { servers: shared.servers, ...run });
  print(seedLines(report));
  const unfired = options.withoutDefect ? report.unfired.filter((fault) => !fault.startsWith('service ')) : [];
  print([lastLine([recordOf(report, { plans: 'saboteur', commit: commitOfProduct() })]).text]);
  return report.violations.length + unfired.length > 0 ? 1 : 0;
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '10' },
      'first-seed': { type: 'string', default: '1' },
      // One seed per core. A seed has two or three workers, two APIs, and perhaps its own servers.
      lanes: { type: 'string', default: String(availableParallelism()) },
      done: { type: 'string' },
      cluster: { type: 'boolean', default: false },
      forgets: { type: 'boolean', default: false },
      quiet: { type: 'string', default: String(QUIET_SECONDS) },
      saboteur: { type: 'string' },
      'without-defect': { type: 'boolean', default: false },
    },
  });
  return {
    ...values,
    seeds: atLeastOne('seeds', values.seeds),
    firstSeed: atLeastOne('first-seed', values['first-seed']),
    lanes: atLeastOne('lanes', values.lanes),
    quietMs: 1_000 * atLeastOne('quiet', values.quiet),
    withoutDefect: values['without-defect'],
  };
}

function atLeastOne(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} is a number from 1`);
  return number;
}

function print(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
