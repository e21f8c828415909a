import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
/** `npm run bench`: measures the product against peers in one run. What and why: `docs/benchmarks.md`. */
import * as z from 'zod';
import { plotsOf } from '#bench/plots/plots.ts';
import { aimLines, reportLines } from '#bench/report.ts';
import { benchResults, RESULTS_FORMAT, type BenchResults, type ScenarioResult } from '#bench/results.ts';
import { measureApiOrders } from '#bench/scenarios/api-orders.ts';
import { measureClientOverhead } from '#bench/scenarios/client-overhead.ts';
import { measureHistorySize } from '#bench/scenarios/history-size.ts';
import { measureMemory } from '#bench/scenarios/memory.ts';
import { measureOrderCounters } from '#bench/scenarios/order-counters.ts';
import { measureOrderFaults } from '#bench/scenarios/order-faults.ts';
import { measureOrderLoad } from '#bench/scenarios/order-load.ts';
import { measureOrderToDelivery } from '#bench/scenarios/order-to-delivery.ts';
import { measureScale } from '#bench/scenarios/scale.ts';
import { measureSilentOrders } from '#bench/scenarios/silent-orders.ts';
import { measureSleepingSubscriptions } from '#bench/scenarios/sleeping-subscriptions.ts';
import { measureStart } from '#bench/scenarios/start.ts';
import { measureTracing } from '#bench/scenarios/tracing.ts';
import { measureWebhookIngest } from '#bench/scenarios/webhook-ingest.ts';
import { measureWholeOrder } from '#bench/scenarios/whole-order.ts';
import { measureWorkers } from '#bench/scenarios/workers.ts';
import { openContext, type BenchContext } from '#bench/support/context.ts';
import { machineFacts, serverFacts } from '#bench/support/machine.ts';
import { report, UserError } from '#cli/terminal/user-error.ts';

type Scenario = (context: BenchContext) => Promise<ScenarioResult[]>;

/** In this order: memory is read while the product is new. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'webhook-ingest': measureWebhookIngest,
  memory: measureMemory,
  'order-counters': measureOrderCounters,
  'order-to-delivery': measureOrderToDelivery,
  'whole-order': measureWholeOrder,
  'order-load': measureOrderLoad,
  'order-faults': measureOrderFaults,
  tracing: measureTracing,
  'api-orders': measureApiOrders,
  scale: measureScale,
  'client-overhead': measureClientOverhead,
  'silent-orders': measureSilentOrders,
  start: measureStart,
  'sleeping-subscriptions': measureSleepingSubscriptions,
  'history-size': measureHistorySize,
  workers: measureWorkers,
};

const USAGE =
  'npm run bench -- [--quick] [--only SCENARIO[,SCENARIO]] [--against DIR] [--sleeping COUNT] [--without-engines] ' +
  `[--cluster] [--forgets] [--output FILE]\nScenarios: ${Object.keys(SCENARIOS).join(', ')}`;
const LATEST = join(import.meta.dirname, 'results/latest.json');

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));
try {
  await bench(readOptions());
} catch (error) {
  process.exitCode = report(error, process.stderr);
}

interface Options {
  readonly mode: BenchContext['mode'];
  readonly scenarios: readonly Scenario[];
  /** Only a full run of everything becomes the latest result by itself. */
  readonly output: string | undefined;
  /** Folder of another checkout of this project, which takes part as the version before. */
  readonly against: string | undefined;
  /** How many subscriptions sleep in the scenario of that name. */
  readonly sleeping: number | undefined;
  /** Leaves the peers out whose packages are not the project's own. */
  readonly withoutEngines: boolean;
  /** Runs on the Temporal server proper. */
  readonly cluster: boolean;
  /** The product also takes part with a sweeper that deletes the history of ended work. */
  readonly forgets: boolean;
}

async function bench(options: Options): Promise<void> {
  const began = performance.now();
  const machine = machineFacts();
  const { mode, output } = options;
  const results = await measureAll(options);
  const checked = benchResults.parse({
    format: RESULTS_FORMAT,
    measured_at: new Date().toISOString(),
    mode,
    duration_s: Math.round((performance.now() - began) / 1_000),
    machine,
    ...results,
  } satisfies BenchResults);
  process.stdout.write(`\n${reportLines(checked).join('\n')}\n`);
  if (output === undefined) return;
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, `${JSON.stringify(checked, undefined, 2)}\n`);
  if (!checked.scenarios.some(({ limit }) => limit !== null)) return;
  writeFileSync(join(dirname(output), 'aims.md'), `${aimLines(checked).join('\n')}\n`);
  for (const [name, svg] of Object.entries(plotsOf(checked))) writeFileSync(join(dirname(output), name), svg);
}

async function measureAll({ mode, scenarios, ...more }: Options): Promise<Pick<BenchResults, 'servers' | 'scenarios'>> {
  await using context = await openContext(mode, (text) => process.stdout.write(`${text}\n`), more);
  try {
    const servers = await serverFacts(context);
    const results: ScenarioResult[] = [];
    for (const scenario of scenarios) results.push(...(await scenario(context)));
    await context.stopContestants();
    return { servers, scenarios: results };
  } catch (error) {
    process.stderr.write(`${context.children.tails()}\n`);
    throw error;
  }
}

function readOptions(): Options {
  const { quick, only, output, against, sleeping, 'without-engines': withoutEngines, cluster, forgets } = parsed();
  const names = only?.split(',') ?? Object.keys(SCENARIOS);
  const unknown = names.find((name) => !Object.hasOwn(SCENARIOS, name));
  if (unknown !== undefined) throw new UserError(`There is no scenario ${JSON.stringify(unknown)}.`, USAGE);
  const chosen = Object.entries(SCENARIOS).flatMap(([name, scenario]) => (names.includes(name) ? [scenario] : []));
  const whole = !quick && only === undefined && !withoutEngines && !cluster && !forgets;
  return {
    mode: quick ? 'quick' : 'full',
    scenarios: chosen,
    output: output === undefined ? (whole ? LATEST : undefined) : resolve(output),
    against: against === undefined ? undefined : checkoutAt(resolve(against)),
    withoutEngines,
    cluster,
    forgets,
    sleeping: sleeping === undefined ? undefined : z.coerce.number().int().min(1_001).parse(sleeping),
  };
}

function checkoutAt(folder: string): string {
  if (existsSync(join(folder, 'worker/main.ts')) && existsSync(join(folder, 'node_modules'))) return folder;
  throw new UserError(`${folder} is no checkout of this project with its packages.`, USAGE);
}

function parsed() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string' },
        output: { type: 'string' },
        against: { type: 'string' },
        sleeping: { type: 'string' },
        'without-engines': { type: 'boolean', default: false },
        cluster: { type: 'boolean', default: false },
        forgets: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new UserError(error instanceof Error ? error.message : String(error), USAGE, { cause: error });
  }
}
