import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { inject } from 'vitest';
import * as z from 'zod';
import { freePort } from '#cli/embedded/ports.ts';
import { productEnvironments, type ProductEnvironments } from '#cli/start/environment.ts';
import type { TemporalConfig } from '#config/config.ts';
import { apiKeyMode } from '#crypto/generated-secrets.ts';
import type { Database } from '#db/connection/database.ts';
import { isFinal, WORK_STATUSES } from '#domain/work/lifecycle.ts';
import { connect } from '#temporal/connection.ts';
import { SCHEDULE_IDS } from '#temporal/schedules.ts';
import { setUpNamespace } from '#temporal/set-up.ts';
import { postOnce, storeKey } from '#test/support/api/keys.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { createTestDatabase, openDatabase } from '#test/support/servers/database.ts';
import type { OwnPostgres, OwnTemporal } from '#test/support/servers/own-servers.ts';
import {
  environmentOf,
  policyOf,
  type NamedSettings,
  type ProcessSettings,
} from '#test/support/servers/policy-files.ts';
import { startProcess, type TestProcess } from '#test/support/servers/processes.ts';
import type { SharedServers } from '#test/support/servers/shared-servers.ts';
import { SHORT_POLICY } from '#test/support/servers/test-policies.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { NeverError, waitFor } from '#test/support/wait-for.ts';

interface StackOptions {
  /** Added to {@link SHORT_POLICY} and to the environment of every process. */
  readonly environment?: ProcessSettings;
  /** Environment of the simulator only: `{ SIMULATOR_PROCESSING_DELAY: '200ms' }`. */
  readonly simulator?: Readonly<Record<string, string>>;
  readonly servicePassword?: string;
  /** The shared servers. The default is those of the present run. */
  readonly servers?: SharedServers;
  /** Own servers of the test. The default is the shared ones. */
  readonly postgres?: Pick<OwnPostgres, 'url'>;
  readonly temporal?: Pick<OwnTemporal, 'address'>;
  /** Starts a pooler in front of the database. @returns its URL, which the processes use. */
  readonly pooler?: (databaseUrl: string) => Promise<string>;
  /** File with the bundled workflows. The default is that of the run. */
  readonly workflowBundle?: string;
  /** Other entry points of processes, such as a saboteur that a test must detect. */
  readonly scripts?: Partial<Readonly<Record<ProcessName, string>>>;
  /** The processes to start. The default is all of them. A test can start the others later. */
  readonly start?: readonly ProcessName[];
}

export type ProcessName = 'simulator' | 'api' | 'worker';

const workStatus = z.enum(WORK_STATUSES);

/** Paths that answer 200 when the process is ready. */
const READY = { simulator: '/simulator/state', api: '/readyz', worker: '/readyz' } as const;

/**
 * The whole product as child processes, with its own database, namespace, simulator and ports.
 *
 * The caller stops it: `await using stack = await startStack()`, or `stop()` in `afterAll`.
 */
export class Stack implements AsyncDisposable {
  readonly databaseUrl: string;
  /** For reads of rows. */
  readonly database: Database;
  readonly temporal: TemporalConfig;
  /** Our REST API, with a key that has all scopes. */
  readonly api: HttpClient;
  /** The simulator: `/simulator/…` is its admin API. */
  readonly simulator: HttpClient;
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly environments: ProductEnvironments;
  readonly #parts: Parts;
  readonly #processes = new Map<ProcessName, TestProcess>();
  readonly #started: TestProcess[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.databaseUrl = parts.databaseUrl;
    this.database = parts.database;
    this.temporal = parts.temporal;
    this.apiKey = parts.apiKey;
    this.webhookSecret = parts.webhookSecret;
    this.environments = parts.environments;
    this.api = new HttpClient(this.#at('api'), { authorization: `Bearer ${parts.apiKey}` });
    this.simulator = new HttpClient(this.#at('simulator'));
  }

  #at(name: ProcessName): string {
    return `http://127.0.0.1:${this.#parts.ports[name]}`;
  }

  /** Starts a process and waits until it is ready. @param environment additions for this start only. */
  async start(name: ProcessName, environment: ProcessSettings = {}): Promise<TestProcess> {
    if (this.#processes.get(name)?.running === true) throw new Error(`the ${name} is running already`);
    const { scripts, policy, folder } = this.#parts;
    const started = await startProcess({
      name,
      script: scripts?.[name] ?? `${name}/main.ts`,
      environment: { ...definedOf(this.environments[name]), ...environmentOf(environment, policy, folder) },
      readyUrl: `${this.#at(name)}${READY[name]}`,
    });
    this.#processes.set(name, started);
    this.#started.push(started);
    return started;
  }

  /** The running process, or the last one. @throws Error if it was never started. */
  process(name: ProcessName): TestProcess {
    const found = this.#processes.get(name);
    if (found === undefined) throw new Error(`the ${name} was not started`);
    return found;
  }

  async kill(name: ProcessName): Promise<void> {
    await this.process(name).kill();
  }

  /** Kills all processes, as a power cut does. Database, Temporal and the simulator's ledger stay. */
  async killAll(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((running) => running.kill()));
  }

  /** `POST /v1/orders` with a fresh Idempotency-Key. */
  async order(body: { package_id: number; external_order_id?: string } & Record<string, unknown>) {
    return postOnce(this.api, '/v1/orders', { external_order_id: `ext-${randomUUID()}`, ...body });
  }

  /** Waits until an order has one of these statuses. @returns the answer to `GET /v1/orders/{id}`. */
  async orderReaches(orderId: string, statuses: readonly string[]) {
    return this.workReaches(`/v1/orders/${orderId}`, statuses);
  }

  /** Waits until the work at a path has one of these statuses. @returns the answer to GET. */
  async workReaches(path: string, statuses: readonly string[], timeoutMs = 240_000) {
    return waitFor(
      `${path} is ${statuses.join(' or ')}`,
      async () => {
        // The operator's view contains all that tests compare.
        const answer = await this.api.get(`${path}?expand=operations`);
        if (answer.status !== 200) throw new Error(`GET answered ${answer.status}: ${answer.text}`);
        const status = answer.textAt('status');
        if (statuses.includes(status)) return answer;
        if (isFinal(workStatus.parse(status))) throw new NeverError(`it is ${status}, which is final`);
        throw new Error(`it is ${status}`);
      },
      {
        timeoutMs,
        everyMs: 100,
        context: async () => {
          const timeline = await this.api.get(`${path}/timeline`).then(({ text }) => text, String);
          return `timeline: ${timeline}\n${this.tails()}`;
        },
      },
    );
  }

  /** The last lines of all logs, for failure messages. */
  tails(lines?: number): string {
    return [...this.#processes.values()].map((running) => running.tail(lines)).join('\n');
  }

  outputs(): string {
    return this.#started.map((each) => `--- ${each.name}\n${each.output()}`).join('\n');
  }

  /** Stops all processes in order and removes their data. @throws Error if a process does not stop in time. */
  async stop(): Promise<void> {
    try {
      for (const name of ['api', 'worker', 'simulator'] as const) await this.#processes.get(name)?.stop();
      // Only saves load for later stacks, so an error has no meaning here.
      if (this.#processes.has('worker') && this.#parts.sharesTemporal)
        await endSchedules(this.temporal).catch(() => undefined);
    } finally {
      await this.killAll();
      await this.#parts.cleanUp();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Starts a {@link Stack}: all processes, or those in `options.start`. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const stack = new Stack(await partsOf(options));
  const { start = ['simulator', 'api', 'worker'] } = options;
  try {
    await Promise.all(start.map((name) => stack.start(name)));
    return stack;
  } catch (error) {
    await stack.stop().catch(() => undefined);
    throw error;
  }
}

interface Parts {
  readonly databaseUrl: string;
  readonly database: Database;
  readonly temporal: TemporalConfig;
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly ports: Readonly<Record<ProcessName, number>>;
  readonly environments: ProductEnvironments;
  readonly scripts: StackOptions['scripts'];
  readonly sharesTemporal: boolean;
  /** Common settings of the processes. */
  readonly policy: NamedSettings;
  /** Removed by `cleanUp`. */
  readonly folder: string;
  readonly cleanUp: () => Promise<void>;
}

async function partsOf(options: StackOptions): Promise<Parts> {
  const folder = temporaryFolder('stack');
  const settings: ProcessSettings = options.environment ?? {};
  // `inject` exists only in vitest. A caller with its own servers does not need it.
  const servers = () => options.servers ?? inject('servers');
  const temporal: TemporalConfig = {
    address: options.temporal?.address ?? servers().temporalAddress,
    namespace: `test-${randomBytes(6).toString('hex')}`,
    tls: undefined,
    apiKey: undefined,
  };
  const [created, ports] = await Promise.all([
    options.postgres === undefined ? createTestDatabase(servers()) : undefined,
    freePorts(),
    setUpNamespace(temporal),
  ]);
  const databaseUrl = created?.url ?? options.postgres?.url ?? '';
  const database = openDatabase(databaseUrl);
  const { key: apiKey } = await storeKey(database, {}, apiKeyMode(settings['SERVICE_MODE']));
  const webhookSecret = `whsec_${randomBytes(16).toString('hex')}`;
  const policy = { ...SHORT_POLICY, ...policyOf(settings) };
  const pooled = await options.pooler?.(databaseUrl);
  const environments = productEnvironments(
    {
      ports,
      databaseUrl: pooled ?? databaseUrl,
      temporalAddress: temporal.address,
      simulatorData: join(folder, 'simulator.sqlite'),
    },
    {
      encryption_keys: `test:${randomBytes(32).toString('base64')}`,
      webhook_secret: webhookSecret,
      postgres_password: '',
      simulator_password: options.servicePassword ?? 'simulator-password',
    },
    {
      API_RATE_LIMIT: 'none',
      ...(pooled !== undefined && { DATABASE_URL: pooled, DATABASE_DIRECT_URL: databaseUrl }),
      TEMPORAL_NAMESPACE: temporal.namespace,
      WORKFLOW_BUNDLE: options.workflowBundle ?? servers().workflowBundle,
      ...environmentOf(settings, policy, folder),
    },
  );
  return {
    databaseUrl,
    database,
    temporal,
    apiKey,
    webhookSecret,
    ports,
    environments: { ...environments, simulator: { ...environments.simulator, ...options.simulator } },
    scripts: options.scripts,
    sharesTemporal: options.temporal === undefined,
    policy,
    folder,
    cleanUp: async () => {
      await database.close();
      await created?.drop();
      removeFolder(folder);
    },
  };
}

/** Without this, the schedules of ended stacks keep the shared server busy: half a core after fifteen stacks. */
async function endSchedules(temporal: TemporalConfig): Promise<void> {
  const connection = await connect(temporal);
  try {
    const { schedule } = new Client({ connection, namespace: temporal.namespace });
    for (const id of SCHEDULE_IDS) await schedule.getHandle(id).delete();
  } finally {
    await connection.close();
  }
}

async function freePorts() {
  const [api, worker, simulator] = await Promise.all([freePort(), freePort(), freePort()]);
  // Tests do not start the other servers, but the environment contains their ports.
  return { api, worker, simulator, temporal: 0, temporalUi: 0, codec: 0, postgres: 0 };
}

export function definedOf(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
