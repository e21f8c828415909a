/** Runs one plan on a stack of its own, from the first request to the audit. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '#cli/embedded/postgres.ts';
import { addCapabilityProfile } from '#db/capability-profiles.ts';
import { profileItems } from '#domain/capability-profile.ts';
import { SHAPES } from '#simulator/shape/shape.ts';
import { audit, type WorkResult } from '#test/crash/audit.ts';
import { auditEvents, listenToEvents } from '#test/crash/audit-events.ts';
import type { CrashPlan } from '#test/crash/plan.ts';
import type { KilledProcess } from '#test/crash/points.ts';
import { KILLED, type PointSettings } from '#test/crash/processes/fault-points.ts';
import { CuttingProxy } from '#test/crash/proxy.ts';
import { askFor, FAILS_ONCE, PATIENCE_MS, type Thing } from '#test/crash/work.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { startOwnPostgres, startOwnTemporal, type OwnPostgres, type OwnTemporal } from '#test/support/own-servers.ts';
import type { SharedServers } from '#test/support/shared-servers.ts';
import { SimulatorAdmin } from '#test/support/simulator-admin.ts';
import { startStack, type Stack } from '#test/support/stack.ts';
import { WebhookReceiver } from '#test/support/webhook-receiver.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

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
  readonly violations: readonly string[];
  /** Where the logs of a seed with violations are kept. */
  readonly logs?: string;
}

const SCRIPTS: Readonly<Record<KilledProcess, string>> = {
  worker: 'test/crash/processes/worker.ts',
  api: 'test/crash/processes/api.ts',
};

/** Beside what all tests shorten. Resends have their usual time, so that a busy machine does not use it up. */
const POLICY = { POLICY_MAX_ATTEMPTS: '2', POLICY_SILENT_DEADLINE: '15s', POLICY_RESEND_WINDOW: '10m', POLICY_CANCEL_CHECK: '3s' };

export interface RunOptions {
  readonly servers: SharedServers;
  readonly sabotage?: Sabotage | undefined;
  /** How long to wait at the end until nothing is under way. */
  readonly quietMs?: number;
}

export async function runPlan(plan: CrashPlan, { servers, sabotage, quietMs }: RunOptions): Promise<SeedReport> {
  const began = performance.now();
  const folder = temporaryFolder('crash');
  await using own = await ownServers(plan);
  await using stack = await startStack({
    servers,
    ...(own.postgres !== undefined && { postgres: own.postgres }),
    ...(own.temporal !== undefined && { temporal: own.temporal }),
    scripts: { ...SCRIPTS, ...sabotage?.scripts },
    start: [],
    environment: {
      ...POLICY,
      ...plan.setting.policy,
      SERVICE_WITHOUT: plan.setting.without.join(','),
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
  await using proxy = await CuttingProxy.before(stack.databaseUrl, plan.cuts);
  const processes = (['worker', 'api'] as const).map((name) => new KeptProcess(stack, name, plan, join(folder, `${name}.points`), proxy));

  const admin = new SimulatorAdmin(stack.simulator);
  await stack.start('simulator');
  await armService(admin, plan);
  const ready = processes.map((each) => each.keepRunning());
  await Promise.all(ready);
  const outages: string[] = [];
  const refused: string[] = [];
  const things = await askForAll(stack, plan, { own, admin, outages, refused });
  const { violations, results } = await audit(stack, plan.setting, things.filter((thing) => thing !== undefined), quietMs);
  const unheard = await auditEvents(stack, receiver);

  const ends = processes.flatMap((each) => each.stop());
  const fired = [...processes.flatMap((each) => each.kills), ...proxy.fired.map(({ moment }) => `cut ${moment}`), ...outages, ...(await firedFaults(admin))];
  const found = [...refused, ...violations, ...unheard, ...ends];
  const passed = passedBy(processes);
  const logs = found.length > 0 ? { logs: keepLogs(stack, plan) } : {};
  await stack.killAll();
  removeFolder(folder);
  return {
    plan,
    durationMs: Math.round(performance.now() - began),
    results,
    fired,
    unfired: without(plannedFaults(plan), fired),
    passed,
    violations: found,
    ...logs,
  };
}

/** A process that is started again whenever it is killed, as a supervisor would. */
class KeptProcess {
  readonly name: KilledProcess;
  readonly #stack: Stack;
  readonly #trace: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #restartDelayMs: number;
  readonly #oddEnds: string[] = [];
  #stopped = false;

  constructor(stack: Stack, name: KilledProcess, plan: CrashPlan, trace: string, proxy: CuttingProxy) {
    this.name = name;
    this.#stack = stack;
    this.#trace = trace;
    this.#restartDelayMs = plan.restartDelayMs;
    const kills = plan.kills.filter(({ process }) => process === name).map(({ point, hit }) => ({ point, hit }));
    const points: PointSettings = { trace, kills };
    this.#environment = { DATABASE_URL: proxy.through(stack.databaseUrl), CRASH_POINTS: JSON.stringify(points) };
  }

  /** Resolves when it has run for the first time. */
  async keepRunning(): Promise<void> {
    await this.#startUntilItRuns();
    void this.#restartForEver();
  }

  /** @returns how it ended otherwise than planned, in words. */
  stop(): readonly string[] {
    this.#stopped = true;
    return this.#oddEnds;
  }

  get lines(): string[] {
    return existsSync(this.#trace) ? readFileSync(this.#trace, 'utf8').split('\n').filter((line) => line !== '') : [];
  }

  /** Names of the kills that came about. */
  get kills(): string[] {
    return this.lines.filter((line) => line.startsWith(KILLED)).map((line) => `kill ${this.name} at ${line.slice(KILLED.length)}`);
  }

  async #restartForEver(): Promise<void> {
    while (!this.#stopped) {
      const { code, signal } = await this.#stack.process(this.name).exit();
      if (this.#stopped) return;
      if (signal !== 'SIGKILL') this.#oddEnds.push(`the ${this.name} ended by itself (code ${code ?? signal ?? 'unknown'})`);
      await delay(this.#restartDelayMs);
      await this.#startUntilItRuns();
    }
  }

  /** It may be killed again before it is ready. One that never runs leaves work that does not end, which the audit finds. */
  async #startUntilItRuns(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#stack.start(this.name, this.#environment);
        return;
      } catch {
        await delay(this.#restartDelayMs);
      }
    }
  }
}

interface OwnServers extends AsyncDisposable {
  readonly postgres: OwnPostgres | undefined;
  readonly temporal: OwnTemporal | undefined;
}

/** Where a server goes away in the plan, it is one that nobody else uses. */
async function ownServers({ outages }: CrashPlan): Promise<OwnServers> {
  const needs = (server: string) => outages.some((outage) => outage.server === server);
  const postgres = needs('postgres') ? await startOwnPostgres() : undefined;
  const temporal = needs('temporal') ? await startOwnTemporal() : undefined;
  return {
    postgres,
    temporal,
    [Symbol.asyncDispose]: async () => {
      await postgres?.[Symbol.asyncDispose]();
      await temporal?.[Symbol.asyncDispose]();
    },
  };
}

/** The profile that the sandbox tour would have measured of this service. */
async function prepareDatabase(stack: Stack, { setting }: CrashPlan, sabotage: Sabotage | undefined): Promise<void> {
  const isThere = (item: string) => !setting.lacks.some((each) => each === item) && !setting.without.some((each) => each === item);
  const items = profileItems.map((item) => [item, isThere(item)] as const);
  const findings = Object.fromEntries(items) as Parameters<typeof addCapabilityProfile>[1]['findings'];
  const evidence = Object.fromEntries(profileItems.map((item) => [item, 'Known of this dialect of the simulator.'])) as Parameters<typeof addCapabilityProfile>[1]['evidence'];
  await stack.database.run((db) => addCapabilityProfile(db, { environment: 'sandbox', measuredAt: new Date(), findings, evidence }));
  await withClient(stack.databaseUrl, async (client) => {
    for (const statement of sabotage?.sql ?? []) await client.query(statement);
  });
}

async function armService(admin: SimulatorAdmin, { setting, work, requestFaults, webhookFaults }: CrashPlan): Promise<void> {
  await admin.dialect(setting.dialect, setting.properties);
  // The audit finds things by the ids of the ledger, which are texts.
  await admin.shape(setting.shape, { ids: 'text' });
  await admin.nextPurchases({ operation: 'order', package_id: FAILS_ONCE, outcome: 'failed_at_once' });
  const isDecidedLater = work.some((planned) => planned.kind === 'cancellation' && planned.later);
  if (isDecidedLater) await admin.nextPurchases({ operation: 'cancellation', outcome: 'processing_then_accepted' });
  for (const { endpoint, fault, nth, count } of requestFaults) await admin.onRequest(endpoint, fault, { nth, count });
  for (const { event, fault, nth } of webhookFaults) await admin.onWebhook(event, fault, { nth });
}

/** All callers at once; an outage, and the money, when so many of them have begun. @param around `outages`, `refused`: what came of it beside the work. */
async function askForAll(
  stack: Stack,
  plan: CrashPlan,
  { own, admin, ...notes }: { readonly own: OwnServers; readonly admin: SimulatorAdmin; readonly outages: string[]; readonly refused: string[] },
): Promise<(Thing | undefined)[]> {
  const asked: Promise<Thing | undefined>[] = [];
  const outages: Promise<void>[] = [];
  for (const [index, planned] of plan.work.entries()) {
    for (const { server, how, ms } of plan.outages.filter(({ afterWork }) => afterWork === index)) {
      outages.push(outage(own[server], how, ms).then(() => void notes.outages.push(`${how} ${server}`)));
    }
    if (index === plan.moneyAfterWork) await moneyComes(stack, admin);
    const thing = askFor(stack, planned, [...asked]).catch((error: unknown) => {
      notes.refused.push(`a caller did not get its ${planned.kind} accepted: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    });
    asked.push(thing);
    // One after the other, so that the n-th hit of a point is mostly the same piece of work in each run of a seed.
    await delay(BETWEEN_CALLERS_MS);
  }
  const [things] = await Promise.all([Promise.all(asked), Promise.all(outages)]);
  return things;
}

const BETWEEN_CALLERS_MS = 30;
const A_LOT = '100000.00';

/** Once something waits for it. */
async function moneyComes(stack: Stack, admin: SimulatorAdmin): Promise<void> {
  await waitFor('work waits for money', async () => (await withClient(stack.databaseUrl, (client) => client.query('select from gate_waits'))).rowCount !== 0, { timeoutMs: PATIENCE_MS });
  await admin.deposit(A_LOT);
}

async function outage(server: OwnPostgres | OwnTemporal | undefined, how: 'stop' | 'kill', ms: number): Promise<void> {
  await server?.[how]();
  await delay(ms);
  await server?.start();
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
    ...plan.outages.map(({ how, server }) => `${how} ${server}`),
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

function passedBy(processes: readonly KeptProcess[]): Map<string, number> {
  const passed = new Map<string, number>();
  for (const line of processes.flatMap((each) => each.lines)) {
    if (!line.startsWith(KILLED)) passed.set(line, (passed.get(line) ?? 0) + 1);
  }
  return passed;
}

/** What the processes printed, and the plan, for whoever looks into a violation. @returns the file. */
function keepLogs(stack: Stack, plan: CrashPlan): string {
  const file = join(import.meta.dirname, '../artifacts', `crash-${plan.seed}-${Date.now()}.log`);
  appendFileSync(file, `${JSON.stringify(plan, undefined, 2)}\n${stack.outputs()}\n`);
  return relative(process.cwd(), file);
}
