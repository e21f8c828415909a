/** `npm run bench`; see `docs/benchmarks.md`. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Connection } from '@temporalio/client';
import type pg from 'pg';
import * as z from 'zod';
import {
  type BenchResults,
  median,
  reportLines,
  RESULTS_FORMAT,
  rounded,
  type ScenarioResult,
} from '#bench/results.ts';
import { measureApiOrders } from '#bench/scenarios/api-orders.ts';
import { measureMemory } from '#bench/scenarios/memory.ts';
import { measureOrderCounters } from '#bench/scenarios/order-counters.ts';
import { measureWebhookIngest } from '#bench/scenarios/webhook-ingest.ts';
import { measureWholeOrder } from '#bench/scenarios/whole-order.ts';
import { type BenchContext, type BenchServers, openContext } from '#bench/support/context.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { messageOf, report, UserError } from '#cli/terminal/user-error.ts';

type Scenario = (context: BenchContext) => Promise<ScenarioResult[]>;

/** Memory comes first, while the product is new. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'webhook-ingest': measureWebhookIngest,
  memory: measureMemory,
  'order-counters': measureOrderCounters,
  'whole-order': measureWholeOrder,
  'api-orders': measureApiOrders,
};

const USAGE =
  'npm run bench -- [--quick] [--only SCENARIO[,SCENARIO]] [--against DIR] [--without-engines] [--output FILE]\n' +
  `Scenarios: ${Object.keys(SCENARIOS).join(', ')}`;
const LATEST = join(import.meta.dirname, 'results/latest.json');

interface Options {
  readonly mode: BenchContext['mode'];
  readonly scenarios: readonly Scenario[];
  /** Only a full run of everything becomes the latest result. */
  readonly output: string | undefined;
  /** Another checkout, which takes part as the version before. */
  readonly against: string | undefined;
  /** Leaves out peers whose packages are not the project's own. */
  readonly withoutEngines: boolean;
}

async function bench(options: Options): Promise<void> {
  const began = performance.now();
  // Contains nothing that names the machine.
  const machine: BenchResults['machine'] = {
    cores: availableParallelism(),
    memory_gib: rounded(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    load_average_at_start: rounded(loadavg()[0] ?? 0),
  };
  const { mode, output } = options;
  const measured = await measureAll(options);
  const results: BenchResults = {
    format: RESULTS_FORMAT,
    measured_at: new Date().toISOString(),
    mode,
    duration_s: Math.round((performance.now() - began) / 1_000),
    machine,
    ...measured,
  };
  process.stdout.write(`\n${reportLines(results).join('\n')}\n`);
  if (output === undefined) return;
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, `${JSON.stringify(results, finite, 2)}\n`);
}

/** JSON would hide a counter that was not read. */
function finite(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError(`${name} is ${value}`);
  return value;
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
  const { quick, only, output, against, 'without-engines': withoutEngines, help } = parsed();
  if (help) {
    process.stdout.write(`${USAGE}\n`);
    process.exit(0);
  }
  const names = only?.split(',') ?? Object.keys(SCENARIOS);
  const unknown = names.find((name) => !Object.hasOwn(SCENARIOS, name));
  if (unknown !== undefined) throw new UserError(`There is no scenario ${JSON.stringify(unknown)}.`, USAGE);
  const chosen = Object.entries(SCENARIOS).filter(([name]) => names.includes(name));
  const whole = !quick && only === undefined && !withoutEngines;
  return {
    mode: quick ? 'quick' : 'full',
    scenarios: chosen.map(([, scenario]) => scenario),
    output: output === undefined ? (whole ? LATEST : undefined) : resolve(output),
    against: against === undefined ? undefined : checkoutAt(resolve(against)),
    withoutEngines,
  };
}

function checkoutAt(folder: string): string {
  if (existsSync(join(folder, 'worker/main.ts')) && existsSync(join(folder, 'node_modules'))) return folder;
  throw new UserError(`${folder} is no checkout of this project with its packages.`, USAGE);
}

function parsed() {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string' },
        output: { type: 'string' },
        against: { type: 'string' },
        'without-engines': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UserError(messageOf(error), USAGE, { cause: error });
  }
}

const SINGLE_INSERTS = 200;

async function serverFacts({ postgres, temporalAddress }: BenchServers): Promise<BenchResults['servers']> {
  const ofPostgres = await withClient(postgres.url('postgres'), async (client) => ({
    postgresql: await shown(client, 'server_version'),
    fsync: await shown(client, 'fsync'),
    synchronous_commit: await shown(client, 'synchronous_commit'),
    single_insert_ms: rounded(await singleInsertMs(client)),
  }));
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    return { ...ofPostgres, temporal: serverVersion };
  } finally {
    await connection.close();
  }
}

async function shown(client: pg.Client, setting: string): Promise<string> {
  const { rows } = await client.query(`select current_setting('${setting}') as value`);
  return z.tuple([z.object({ value: z.string() })]).parse(rows)[0].value;
}

async function singleInsertMs(client: pg.Client): Promise<number> {
  await client.query('create table single_inserts (id bigint primary key)');
  const took: number[] = [];
  for (let id = 1; id <= SINGLE_INSERTS; id += 1) {
    const started = performance.now();
    await client.query('insert into single_inserts values ($1)', [id]);
    took.push(performance.now() - started);
  }
  await client.query('drop table single_inserts');
  return median(took);
}

process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
try {
  await bench(readOptions());
} catch (error) {
  process.exitCode = report(error, process.stderr);
}
