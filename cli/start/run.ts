import { join } from 'node:path';
import { DataFolderLock } from '#cli/data-folder/data-folder-lock.ts';
import { devApiKeyFile } from '#cli/data-folder/dev-api-key-file.ts';
import { developmentApiKey } from '#cli/data-folder/development-api-key.ts';
import { loadSecrets } from '#cli/data-folder/development-secrets.ts';
import { prepareDataFolder } from '#cli/data-folder/prepare-data-folder.ts';
import { removeRunningEnvironment, writeRunningEnvironment } from '#cli/data-folder/running-environment.ts';
import { EmbeddedPostgres } from '#cli/embedded/postgres.ts';
import { obtainTemporalCli, type TemporalCli } from '#cli/embedded/temporal-cli.ts';
import { TemporalServer } from '#cli/embedded/temporal-server.ts';
import { runDemo } from '#cli/set-up/demo-orders.ts';
import { migrateOrExplain } from '#cli/set-up/migrate.ts';
import type { ManagedProcess } from '#cli/start/managed-process.ts';
import { DATABASE, logFile, makePlan, type Plan, productProcesses } from '#cli/start/plan.ts';
import { requireFreePorts } from '#cli/start/ports.ts';
import type { StartSettings } from '#cli/start/settings.ts';
import { addressLines } from '#cli/start/summary.ts';
import { Supervisor } from '#cli/start/supervisor.ts';
import type { Step, Terminal } from '#cli/terminal/terminal.ts';
import { messageOf } from '#cli/terminal/user-error.ts';
import { readEncryptionKeys, readWorkerConfig } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { Database } from '#db/connection/database.ts';
import { verifyKeys } from '#db/connection/encryption-keys.ts';
import { setUpNamespace } from '#temporal/set-up.ts';

export interface RunContext {
  readonly settings: StartSettings;
  readonly environment: Environment;
  readonly terminal: Terminal;
  /** Aborted to stop: by Ctrl-C, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  /** Receives a function that kills every process: for a second Ctrl-C and for a crash of this process. */
  readonly onKillable: (kill: () => void) => void;
}

/**
 * Starts everything, buys a first eSIM, and keeps everything running until the signal is aborted. Then stops all
 * processes in order. No process is left running, also after an error.
 *
 * @throws UserError or ConfigurationError when a process cannot be started.
 */
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
    writeRunningEnvironment(settings.dataDirectory, plan.environments, plan.ports);
    await new Run(context, plan, lock).untilStopped();
  } finally {
    removeRunningEnvironment(settings.dataDirectory);
    lock.release();
  }
}

class Run {
  readonly #context: RunContext;
  readonly #plan: Plan;
  readonly #product: ReturnType<typeof productProcesses>;
  readonly #supervisor: Supervisor;
  #postgres: EmbeddedPostgres | undefined;
  #temporalServer: TemporalServer | undefined;
  /** The first error that stops everything. */
  #failure: Error | undefined;
  readonly #failed = new AbortController();
  /** Aborted by the caller or after a failure: everything stops. */
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
      await aborted(this.#ending);
    } catch (error) {
      // An error while we stop is the result of the abort.
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

  /** Clients before servers: API, worker and the rest, then Temporal and PostgreSQL. */
  #processesInStopOrder(): ManagedProcess[] {
    const { api, worker, codec, simulator } = this.#product;
    const servers = [this.#temporalServer, this.#postgres].filter((server) => server !== undefined);
    return [api, worker, codec, simulator, ...servers];
  }

  async #bringUp(): Promise<string | undefined> {
    const { api, worker, codec, simulator } = this.#product;
    const ownService = this.#plan.settings.serviceBaseUrl === undefined;
    const [apiKey] = await this.#together(
      this.#database(),
      this.#temporal(),
      this.#startProcess(codec),
      ownService ? this.#startProcess(simulator) : undefined,
    );
    await this.#together(this.#startProcess(api), this.#startProcess(worker));
    if (this.#plan.settings.demo && apiKey !== undefined) await this.#demo(apiKey);
    return apiKey;
  }

  /** Runs work in parallel. The first failure stops everything. */
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

  async #database(): Promise<string | undefined> {
    const { settings, databaseUrl, ports, secrets } = this.#plan;
    if (settings.databaseUrl === undefined) {
      await this.#step('PostgreSQL', async (step) => {
        step.update('setting up');
        this.#postgres = await EmbeddedPostgres.prepare({
          dataDirectory: join(settings.dataDirectory, 'postgres'),
          port: ports.postgres,
          password: secrets.postgres_password,
          logFile: logFile(this.#plan, 'postgres'),
          ...(settings.walArchive !== undefined && { walArchive: settings.walArchive }),
        });
        step.update('starting');
        await this.#supervisor.start(this.#postgres);
        await this.#postgres.createDatabase(DATABASE);
        step.done(`on 127.0.0.1:${ports.postgres}`);
      });
    }
    await this.#step('Database schema', () => migrateOrExplain(databaseUrl));
    return this.#prepareDatabase();
  }

  /**
   * @returns an API key with our own simulator, else undefined: only the operator creates keys that spend real money.
   * @throws EncryptionKeysError here, so that it is not only in the log of each process.
   */
  async #prepareDatabase(): Promise<string | undefined> {
    const { settings, databaseUrl, environments } = this.#plan;
    const database = new Database({
      url: databaseUrl,
      poolSize: 1,
      applicationName: 'reseller start',
      onConnectionError: () => undefined,
    });
    try {
      const keyRing = new KeyRing(readEncryptionKeys(environments.api));
      await database.run((db) => verifyKeys(db, keyRing));
      if (settings.serviceBaseUrl !== undefined) return undefined;
      return await developmentApiKey(settings.dataDirectory, database);
    } finally {
      await database.close();
    }
  }

  async #temporal(): Promise<void> {
    if (this.#plan.settings.temporalAddress === undefined) await this.#ownTemporal();
    const { temporal } = readWorkerConfig(this.#plan.environments.worker);
    await this.#step('Temporal namespace', async (step) => {
      await setUpNamespace(temporal);
      step.done(temporal.namespace);
    });
  }

  async #ownTemporal(): Promise<void> {
    const { settings, ports } = this.#plan;
    const { environment } = this.#context;
    const cli = await this.#step('Temporal CLI', async (step) => {
      const progress = (text: string) => step.update(text);
      const found = await obtainTemporalCli({
        environment,
        progress,
        announce: (text) => this.#context.terminal.say(text),
        signal: this.#ending,
      });
      step.done(SOURCE_TEXT[found.source]);
      return found;
    });
    await this.#step('Temporal server', async (step) => {
      this.#temporalServer = new TemporalServer({
        cli: cli.path,
        port: ports.temporal,
        uiPort: ports.temporalUi,
        databaseFile: join(settings.dataDirectory, 'temporal.db'),
        codecEndpoint: `http://127.0.0.1:${ports.codec}`,
        logFile: logFile(this.#plan, 'temporal'),
        environment,
      });
      await this.#supervisor.start(this.#temporalServer);
      step.done(`on ${this.#temporalServer.address}`);
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
          log: logFile(this.#plan, 'api'),
        },
        stateFile: join(this.#plan.settings.dataDirectory, 'demo.json'),
        terminal,
        signal: this.#ending,
      });
    } catch (error) {
      this.#ending.throwIfAborted();
      // All processes run. A failed demonstration must not stop them.
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
    await Promise.allSettled(this.#pending);
    current?.done();
    terminal.close();
  }

  /** Shows `work` as a step. `work` may end the step itself, with a detail. */
  async #step<Value>(name: string, work: (step: Step) => Promise<Value>): Promise<Value> {
    this.#ending.throwIfAborted();
    const step = this.#context.terminal.step(name);
    try {
      const result = await work(step);
      step.done();
      return result;
    } catch (error) {
      step.fail(this.#ending.aborted ? 'stopped' : '');
      throw error;
    }
  }
}

const SOURCE_TEXT: Readonly<Record<TemporalCli['source'], string>> = {
  TEMPORAL_CLI_PATH: 'from TEMPORAL_CLI_PATH',
  PATH: 'from the PATH',
  cache: 'from the cache',
  download: 'downloaded and cached',
  build: 'built from source and cached',
};

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
