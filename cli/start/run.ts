import { once } from 'node:events';
import { join } from 'node:path';
import { DataFolderLock, prepareDataFolder } from '#cli/data-folder/data-folder.ts';
import { devApiKeyFile, loadSecrets } from '#cli/data-folder/development-secrets.ts';
import { removeRunningEnvironment, writeRunningEnvironment } from '#cli/data-folder/running-environment.ts';
import { EmbeddedPostgres } from '#cli/embedded/postgres.ts';
import { runDemo } from '#cli/set-up/demo.ts';
import { prepareDatabase, requireUsableSimulatorData } from '#cli/start/database.ts';
import { startLoadBalancer, type LoadBalancer } from '#cli/start/load-balancer.ts';
import { DATABASE, logFile, makePlan, type Plan, type ProductProcesses, productProcesses } from '#cli/start/plan.ts';
import { requireFreePorts, type StartSettings } from '#cli/start/settings.ts';
import { addressLines, waitingLines } from '#cli/start/summary.ts';
import { type ManagedProcess, Supervisor } from '#cli/start/supervisor.ts';
import { startCluster, startDevelopmentServer, type TemporalStart } from '#cli/start/temporal.ts';
import type { Step, Terminal } from '#cli/terminal/terminal.ts';
import { messageOf } from '#cli/terminal/user-error.ts';
import { readWorkerConfig } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import { setUpNamespace } from '#temporal/set-up.ts';
import { bundleWorkflows } from '#worker/bundle.ts';

/** Temporal opens up to 40 for each of its four services. PostgreSQL allows 100 by default. */
const CLUSTER_CONNECTIONS = '300';

export interface RunContext {
  readonly settings: StartSettings;
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Kills every process: for a second Ctrl-C and a crash of this process. */
  readonly onKillable: (kill: () => void) => void;
}

/** Stops all processes in order. None is left running, also after an error. */
export async function runUntilStopped(context: RunContext): Promise<void> {
  const { settings, terminal } = context;
  prepareDataFolder(settings.dataDirectory);
  const lock = await DataFolderLock.acquire(settings.dataDirectory, (count) => {
    terminal.say(`The last start was killed. Stopping ${count} of its processes first.`);
  });
  try {
    const secrets = loadSecrets(settings.dataDirectory);
    await requireFreePorts(settings);
    const plan = await makePlan(settings, secrets, context.environment);
    requireUsableSimulatorData(plan);
    writeRunningEnvironment(settings.dataDirectory, plan.environments, plan.ports, context.environment);
    await new Run(context, plan, lock).untilStopped();
  } finally {
    removeRunningEnvironment(settings.dataDirectory);
    lock.release();
  }
}

class Run {
  readonly #context: RunContext;
  readonly #plan: Plan;
  readonly #product: ProductProcesses;
  readonly #supervisor: Supervisor;
  readonly #servers: ManagedProcess[] = [];
  #loadBalancer: LoadBalancer | undefined;
  #failure: Error | undefined;
  readonly #failed = new AbortController();
  readonly #ending: AbortSignal;
  readonly #pending: Promise<unknown>[] = [];

  constructor(context: RunContext, plan: Plan, lock: DataFolderLock) {
    this.#context = context;
    this.#plan = plan;
    this.#product = productProcesses(plan);
    this.#ending = AbortSignal.any([context.signal, this.#failed.signal]);
    this.#supervisor = new Supervisor({
      processes: () => this.#processesInStopOrder(),
      onStarted: (child) => lock.addChild(child),
      onEvent: (text) => context.terminal.say(text),
      onUnusable: (error) => this.#fail(error),
    });
    context.onKillable(() => this.#supervisor.killAll());
  }

  async untilStopped(): Promise<void> {
    const { terminal } = this.#context;
    try {
      const apiKey = await this.#bringUp();
      for (const line of addressLines(this.#plan, apiKey, terminal)) terminal.say(line);
      if (!this.#ending.aborted) await once(this.#ending, 'abort');
    } catch (error) {
      // An error while we stop results from the abort.
      if (!this.#ending.aborted) this.#fail(error);
    }
    terminal.close();
    await this.#bringDown();
    if (this.#failure !== undefined) throw this.#failure;
  }

  #fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(messageOf(error));
    this.#failed.abort();
  }

  /** Clients before servers. */
  #processesInStopOrder(): ManagedProcess[] {
    const { apis, workers, codec, simulator } = this.#product;
    return [...apis, ...workers, codec, simulator, ...this.#servers.toReversed()];
  }

  async #bringUp(): Promise<string | undefined> {
    const { apis, workers, codec, simulator } = this.#product;
    const postgres = this.#postgres();
    const ownService = this.#plan.settings.serviceBaseUrl === undefined;
    const [apiKey] = await this.#together(
      this.#database(postgres),
      this.#temporal(postgres),
      this.#startProcess(codec),
      ownService ? this.#startProcess(simulator) : undefined,
      this.#workflows(),
    );
    await this.#together(...[...apis, ...workers].map((each) => this.#startProcess(each)));
    if (this.#plan.settings.cluster !== undefined) await this.#balanceLoad();
    if (this.#plan.settings.demo && apiKey !== undefined) await this.#demo(apiKey);
    return apiKey;
  }

  /** The first failure stops everything. */
  async #together<Values extends unknown[]>(...work: { [Index in keyof Values]: Promise<Values[Index]> | undefined }) {
    const watched = work.map(async (one) => {
      try {
        return await one;
      } catch (error) {
        if (!this.#ending.aborted) this.#fail(error);
        throw error;
      }
    });
    this.#pending.push(...watched);
    return (await Promise.all(watched)) as Values;
  }

  async #workflows(): Promise<void> {
    const { workflowBundle: file } = this.#plan;
    if (file !== undefined) await this.#step('Workflows', () => bundleWorkflows(file, this.#ending));
  }

  async #postgres(): Promise<void> {
    const { settings, ports, secrets } = this.#plan;
    if (settings.databaseUrl !== undefined) return;
    await this.#step('PostgreSQL', async (step) => {
      step.update('setting up');
      const postgres = await EmbeddedPostgres.prepare({
        dataDirectory: join(settings.dataDirectory, 'postgres'),
        port: ports.postgres,
        password: secrets.postgres_password,
        logFile: logFile(this.#plan, 'postgres'),
        ...(settings.walArchive !== undefined && { walArchive: settings.walArchive }),
        ...(settings.cluster !== undefined && { settings: { max_connections: CLUSTER_CONNECTIONS } }),
      });
      step.update('starting');
      await this.#serve(postgres);
      await postgres.createDatabase(DATABASE);
      step.done(`on 127.0.0.1:${ports.postgres}`);
    });
  }

  async #database(postgres: Promise<void>): Promise<string | undefined> {
    await postgres;
    return prepareDatabase(this.#plan, (work) => this.#step('Database schema', work));
  }

  async #temporal(postgres: Promise<void>): Promise<void> {
    const { cluster, temporalAddress } = this.#plan.settings;
    const context: TemporalStart = {
      plan: this.#plan,
      obtain: {
        environment: this.#context.environment,
        announce: (text) => this.#context.terminal.say(text),
        signal: this.#ending,
      },
      step: (name, work) => this.#step(name, work),
      serve: (server) => this.#serve(server),
    };
    if (cluster !== undefined) await startCluster(context, postgres);
    else if (temporalAddress === undefined) await startDevelopmentServer(context);
    const { temporal } = readWorkerConfig(this.#plan.environments.worker);
    await this.#step('Temporal namespace', async (step) => {
      await setUpNamespace(temporal);
      step.done(temporal.namespace);
    });
  }

  async #serve(server: ManagedProcess): Promise<void> {
    this.#servers.push(server);
    await this.#supervisor.start(server);
  }

  async #balanceLoad(): Promise<void> {
    const { ports, apiPorts } = this.#plan;
    await this.#step('Load balancer', async (step) => {
      this.#loadBalancer = await startLoadBalancer({ port: ports.api, apis: apiPorts });
      step.done(`on 127.0.0.1:${ports.api}`);
    });
  }

  async #startProcess(target: ManagedProcess): Promise<void> {
    await this.#step(target.name, () => this.#supervisor.start(target));
  }

  async #demo(apiKey: string): Promise<void> {
    const { terminal } = this.#context;
    try {
      await runDemo({
        api: {
          url: `http://127.0.0.1:${this.#plan.ports.api}`,
          key: apiKey,
          keyFrom: devApiKeyFile(this.#plan.settings.dataDirectory),
          log: this.#product.apis[0]?.logFile ?? '',
        },
        stateFile: join(this.#plan.settings.dataDirectory, 'demo.json'),
        terminal,
        signal: this.#ending,
        explainWait: () => waitingLines(this.#plan),
      });
    } catch (error) {
      this.#ending.throwIfAborted();
      // A failed demonstration must not stop the processes.
      terminal.say(`The first order could not be followed: ${messageOf(error)}`);
    }
  }

  async #bringDown(): Promise<void> {
    const { terminal } = this.#context;
    let current: Step | undefined;
    await this.#supervisor.stopAll((name) => {
      current?.done();
      current = terminal.step(`Stopping ${name}`);
    });
    await this.#loadBalancer?.close();
    await Promise.allSettled(this.#pending);
    current?.done();
    terminal.close();
  }

  async #step<Value>(name: string, work: (step: Step) => Promise<Value>): Promise<Value> {
    this.#ending.throwIfAborted();
    return await this.#context.terminal.during(name, work, () => (this.#ending.aborted ? 'stopped' : ''));
  }
}
