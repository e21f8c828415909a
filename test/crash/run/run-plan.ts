/** Runs one plan on a stack of its own, from the first request to the audit. */
import { appendFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '#cli/embedded/postgres.ts';
import { addCapabilityProfile } from '#db/service/capability-profiles.ts';
import { profileItems } from '#domain/service/capability-profile.ts';
import { SHAPES } from '#simulator/shapes/shape.ts';
import { auditEvents, listenToEvents } from '#test/crash/audit/audit-events.ts';
import { auditTemporal, hasEnded } from '#test/crash/audit/audit-temporal.ts';
import { audit, type WorkResult } from '#test/crash/audit/audit.ts';
import { nameOf, type Link } from '#test/crash/plans/disturbances.ts';
import type { CrashPlan } from '#test/crash/plans/plan.ts';
import type { KilledProcess } from '#test/crash/plans/points.ts';
import { LoadBalancer } from '#test/crash/run/balancer.ts';
import { TransactionCutter } from '#test/crash/run/cuts.ts';
import { Disturber, stopsOfSetBacks, type SetBack } from '#test/crash/run/disturb.ts';
import { Fleet } from '#test/crash/run/fleet.ts';
import { ownServers } from '#test/crash/run/own-servers.ts';
import { preparePoison, readPoison } from '#test/crash/run/poison.ts';
import { NetworkProxy } from '#test/crash/run/proxy.ts';
import { askFor, FAILS_ONCE, PATIENCE_MS, stillThere, type Thing } from '#test/crash/run/work.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { WebhookReceiver } from '#test/support/network/webhook-receiver.ts';
import type { SharedServers } from '#test/support/servers/shared-servers.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

/** One thing wrong with the product, which the audit must find. */
export interface Sabotage {
  /** Entry points instead of the usual ones. */
  readonly scripts?: Partial<Readonly<Record<KilledProcess, string>>>;
  /** Carried out on the database before anything starts. */
  readonly sql?: readonly string[];
}

export interface SeedReport {
  readonly plan: CrashPlan;
  readonly durationMs: number;
  readonly results: readonly WorkResult[];
  /** Faults that came about, by name. */
  readonly fired: readonly string[];
  /** Planned faults that did not. */
  readonly unfired: readonly string[];
  /** Every point that a process passed, with how often. */
  readonly passed: ReadonlyMap<string, number>;
  /** What PostgreSQL lost, each time. */
  readonly setBacks: readonly SetBack[];
  /** Events of the longest history of a workflow. */
  readonly longestHistory: number;
  /** Requests that each API has answered. */
  readonly served: readonly number[];
  /** The most memory that workers and APIs together have held. */
  readonly memoryBytes: number;
  readonly violations: readonly string[];
  /** Where the logs of a seed with violations are kept. */
  readonly logs?: string;
}

/**
 * Beside what all tests shorten. Resends have their usual time, so that a busy machine does not use it up. What a
 * quarantined report bars waits for a person, and says so by a case `stalled`.
 */
const POLICY = {
  POLICY_MAX_ATTEMPTS: '2',
  POLICY_SILENT_DEADLINE: '15s',
  POLICY_RESEND_WINDOW: '10m',
  POLICY_CANCEL_CHECK: '3s',
  POLICY_STALLED_AFTER: '20s',
  // Every second, both schedules use a fifth of a core in each seed.
  POLICY_RECONCILE_EVERY: '2s',
  POLICY_SWEEP_EVERY: '2s',
};

export interface RunOptions {
  readonly servers: SharedServers;
  readonly sabotage?: Sabotage | undefined;
  /** How long to wait at the end until nothing is under way. */
  readonly quietMs?: number;
}

export async function runPlan(plan: CrashPlan, { servers, sabotage, quietMs }: RunOptions): Promise<SeedReport> {
  const began = performance.now();
  const folder = temporaryFolder('crash');
  await using own = await ownServers(plan.disturbances);
  await using stack = await startStack({
    servers,
    ...(own.postgres !== undefined && { postgres: own.postgres }),
    ...(own.temporal !== undefined && { temporal: own.temporal }),
    start: [],
    environment: {
      ...POLICY,
      ...plan.setting.policy,
      SERVICE_MISSING_CAPABILITIES: plan.setting.without.join(','),
      SERVICE_HEADER_PREFIX: SHAPES[plan.setting.shape].header_prefix,
    },
    simulator: {
      SIMULATOR_PROCESSING_DELAY: '400ms',
      SIMULATOR_WEBHOOK_RETRY_DELAY: '300ms',
      SIMULATOR_SEED: `crash-${plan.seed}`,
      ...(plan.moneyAfterWork !== undefined && { SIMULATOR_SANDBOX_BALANCE: '0.00' }),
    },
  });
  await prepareDatabase(stack, plan, sabotage);
  await using receiver = await WebhookReceiver.start();
  await listenToEvents(stack, receiver);
  await using network = await networkOf(stack, plan);
  const { cutter, proxies } = network;
  const disturber = new Disturber({ disturbances: plan.disturbances, stopsAt: plan.stopsAt });
  const stopsAt = [...plan.stopsAt, ...stopsOfSetBacks(plan.disturbances)];
  await using fleet = await Fleet.prepare({
    stack,
    plan: { ...plan, stopsAt },
    folder,
    environment: network.environment,
    onStopped: (point) => disturber.onStopped(point),
    ...(sabotage?.scripts !== undefined && { scripts: sabotage.scripts }),
  });
  await using balancer = await LoadBalancer.start(Number(stack.environments.api['API_PORT']), fleet.apiPorts);

  const admin = new SimulatorAdmin(stack.simulator);
  await stack.start('simulator');
  await armService(admin, plan);
  await fleet.start();
  // What is lost later is of the seed, and not what was prepared for it.
  await own.postgres?.makeDurable();
  const refused: string[] = [];
  const hasWorkflowEnded = () => hasEnded(stack);
  disturber.begin({ fleet, balancer, proxies, own, databaseUrl: stack.databaseUrl, hasWorkflowEnded });
  const asked = await askForAll(stack, plan, { admin, disturber, refused });
  const { fired: came, setBacks } = await disturber.came();
  const things = setBacks.length === 0 ? asked : await allStillThere(stack, asked, refused);
  const poisoned = await readPoison(stack.databaseUrl);
  const { violations, results } = await audit(stack, plan.setting, things, { quietMs, setBacks, poisoned });
  const unheard = await auditEvents(stack, receiver);
  const temporal = await auditTemporal(stack, poisoned);

  const ends = fleet.stop();
  const clocks = Object.values(plan.clocks).some((offset) => offset !== 0) ? [CLOCKS_APART] : [];
  // A stop that only holds a process for a set back is none of its own.
  const stops = fleet.fired.filter(
    (name) =>
      !name.startsWith('freeze ') ||
      plan.stopsAt.some(({ process, point }) => name === `freeze ${process} at ${point}`),
  );
  const fired = [
    ...stops,
    ...cutter.fired.map(({ moment }) => `cut ${moment}`),
    ...came,
    ...clocks,
    ...(await firedFaults(admin)),
  ];
  const found = [...refused, ...violations, ...unheard, ...temporal.violations, ...ends];
  const passed = fleet.passed;
  const logs = found.length > 0 ? { logs: keepLogs(stack, fleet, plan) } : {};
  await Promise.all([stack.killAll(), fleet.killAll()]);
  removeFolder(folder);
  return {
    plan,
    durationMs: Math.round(performance.now() - began),
    results,
    fired,
    unfired: without(plannedFaults(plan), fired),
    passed,
    setBacks,
    longestHistory: temporal.longestHistory,
    served: balancer.served,
    memoryBytes: fleet.peakBytes,
    violations: found,
    ...logs,
  };
}

const CLOCKS_APART = 'clocks apart';

interface Network extends AsyncDisposable {
  readonly cutter: TransactionCutter;
  readonly proxies: Readonly<Record<Link, NetworkProxy>>;
  /** Where the processes find what they talk to. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A proxy before each of the servers that the processes talk to. */
async function networkOf(stack: Stack, { cuts }: CrashPlan): Promise<Network> {
  const cutter = new TransactionCutter(cuts);
  const serviceUrl = stack.environments.worker['SERVICE_BASE_URL'] ?? '';
  const targetOf = (url: string) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) });
  const [postgres, temporal, service] = await Promise.all([
    NetworkProxy.before(targetOf(stack.databaseUrl), () => cutter.inspector()),
    NetworkProxy.before(targetOf(`tcp://${stack.temporal.address}`)),
    NetworkProxy.before(targetOf(serviceUrl)),
  ]);
  return {
    cutter,
    proxies: { postgres, temporal, service },
    environment: {
      DATABASE_URL: postgres.through(stack.databaseUrl),
      TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
      SERVICE_BASE_URL: service.through(serviceUrl),
    },
    [Symbol.asyncDispose]: async () => {
      for (const proxy of [postgres, temporal, service]) await proxy[Symbol.asyncDispose]();
    },
  };
}

/** The profile that the sandbox tour would have measured of this service. */
async function prepareDatabase(
  stack: Stack,
  { setting, disturbances }: CrashPlan,
  sabotage: Sabotage | undefined,
): Promise<void> {
  const isThere = (item: string) =>
    !setting.lacks.some((each) => each === item) && !setting.without.some((each) => each === item);
  const items = profileItems.map((item) => [item, isThere(item)] as const);
  const findings = Object.fromEntries(items) as Parameters<typeof addCapabilityProfile>[1]['findings'];
  const evidence = Object.fromEntries(
    profileItems.map((item) => [item, 'Known of this dialect of the simulator.']),
  ) as Parameters<typeof addCapabilityProfile>[1]['evidence'];
  await stack.database.run((db) =>
    addCapabilityProfile(db, { environment: 'sandbox', measuredAt: new Date(), findings, evidence }),
  );
  await withClient(stack.databaseUrl, async (client) => {
    for (const statement of sabotage?.sql ?? []) await client.query(statement);
  });
  await preparePoison(stack.databaseUrl, disturbances);
}

async function armService(
  admin: SimulatorAdmin,
  { setting, work, requestFaults, webhookFaults }: CrashPlan,
): Promise<void> {
  await admin.dialect(setting.dialect, setting.properties);
  // The audit finds things by the ids of the ledger, which are texts.
  await admin.shape(setting.shape, { ids: 'text' });
  await admin.nextPurchases({ operation: 'order', package_id: FAILS_ONCE, outcome: 'failed_at_once' });
  const isDecidedLater = work.some((planned) => planned.kind === 'cancellation' && planned.later);
  if (isDecidedLater) await admin.nextPurchases({ operation: 'cancellation', outcome: 'processing_then_accepted' });
  for (const { endpoint, fault, nth, count } of requestFaults) await admin.onRequest(endpoint, fault, { nth, count });
  for (const { event, fault, nth } of webhookFaults) await admin.onWebhook(event, fault, { nth });
}

/**
 * All callers at once; resolves when each has its answer and all disturbances are over. @param notes.refused gets what
 * was not accepted.
 */
async function askForAll(
  stack: Stack,
  plan: CrashPlan,
  {
    admin,
    disturber,
    refused,
  }: { readonly admin: SimulatorAdmin; readonly disturber: Disturber; readonly refused: string[] },
): Promise<Thing[]> {
  const asked: Promise<Thing | undefined>[] = [];
  for (const [index, planned] of plan.work.entries()) {
    disturber.reached(index);
    if (index === plan.moneyAfterWork) await moneyComes(stack, admin);
    const thing = askFor(stack, planned, [...asked]).catch((error: unknown) => {
      refused.push(
        `a caller did not get its ${planned.kind} accepted: ${error instanceof Error ? error.message : String(error)}`,
      );
      return undefined;
    });
    asked.push(thing);
    // One after the other, so that the n-th hit of a point is mostly the same piece of work in each run of a seed.
    await delay(BETWEEN_CALLERS_MS);
  }
  const [things] = await Promise.all([Promise.all(asked), disturber.over()]);
  return things.filter((thing) => thing !== undefined);
}

/** One after the other, as what comes later may need what came before. @param refused gets what was not accepted. */
async function allStillThere(stack: Stack, asked: readonly Thing[], refused: string[]): Promise<Thing[]> {
  const things: Thing[] = [];
  for (const thing of asked) {
    try {
      things.push(await stillThere(stack, thing));
    } catch (error) {
      things.push(thing);
      const reason = error instanceof Error ? error.message : String(error);
      refused.push(`a caller did not get its lost ${thing.planned.kind} accepted again: ${reason}`);
    }
  }
  return things;
}

const BETWEEN_CALLERS_MS = 30;
const A_LOT = '100000.00';

/** Once something waits for it. */
async function moneyComes(stack: Stack, admin: SimulatorAdmin): Promise<void> {
  await waitFor(
    'work waits for money',
    async () =>
      (await withClient(stack.databaseUrl, (client) => client.query('select from gate_waits'))).rowCount !== 0,
    { timeoutMs: PATIENCE_MS },
  );
  await admin.deposit(A_LOT);
}

async function firedFaults(admin: SimulatorAdmin): Promise<string[]> {
  const faults = await admin.faults();
  return faults.filter(({ fired }) => fired > 0).map(({ fault }) => `service ${fault.kind}`);
}

/** Under the names that they have when they fire. */
export function plannedFaults(plan: CrashPlan): string[] {
  return [
    ...plan.kills.map(({ process, point }) => `kill ${process} at ${point}`),
    ...plan.cuts.map(({ moment }) => `cut ${moment}`),
    ...plan.stopsAt.map(({ process, point }) => `freeze ${process} at ${point}`),
    ...plan.disturbances.map(nameOf),
    ...(Object.values(plan.clocks).some((offset) => offset !== 0) ? [CLOCKS_APART] : []),
    ...[...plan.requestFaults, ...plan.webhookFaults].map(({ fault }) => `service ${fault.kind}`),
  ];
}

function without(all: readonly string[], some: readonly string[]): string[] {
  const left = [...some];
  return all.filter((each) => {
    const index = left.indexOf(each);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

/** Writes the plan and the output of the processes to a file, to examine a violation. @returns the file. */
function keepLogs(stack: Stack, fleet: Fleet, plan: CrashPlan): string {
  const file = join(import.meta.dirname, '../../artifacts', `crash-${plan.seed}-${Date.now()}.log`);
  appendFileSync(file, `${JSON.stringify(plan, undefined, 2)}\n${stack.outputs()}\n${fleet.outputs()}\n`);
  return relative(process.cwd(), file);
}
