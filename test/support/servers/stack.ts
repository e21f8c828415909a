import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { inject } from 'vitest';
import * as z from 'zod';
import { freePort } from '#cli/embedded/ports.ts';
import { productEnvironments, type ProductEnvironments } from '#cli/start/environment.ts';
import { generateApiKey } from '#crypto/api-key.ts';
import { addApiKey } from '#db/access/api-keys.ts';
import { apiScopes } from '#db/access/api-scopes.ts';
import type { Database } from '#db/connection/database.ts';
import { isFinal, WORK_STATUSES } from '#domain/work/lifecycle.ts';
import { connect } from '#temporal/connection.ts';
import { SCHEDULE_IDS } from '#temporal/schedules.ts';
import { setUpNamespace } from '#temporal/set-up.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { createTestDatabase, openDatabase } from '#test/support/servers/database.ts';
import type { OwnPostgres, OwnTemporal } from '#test/support/servers/own-servers.ts';
import { startProcess, type TestProcess } from '#test/support/servers/processes.ts';
import type { SharedServers } from '#test/support/servers/shared-servers.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { NeverError, waitFor } from '#test/support/wait-for.ts';

/** Exact numbers of requests are counted: no request is given up because the machine is busy. */
export const PATIENT_POLICY = {
  POLICY_SEND_DEADLINE: '15s',
  POLICY_SEND_LEASE: '18s',
  POLICY_SEND_ACTIVITY_TIMEOUT: '40s',
  POLICY_RESEND_WINDOW: '10m',
} as const;

/** What is held because its package or plan is not sold stays so until somebody acts. */
export const UNSOLD_STAYS_HELD = {
  POLICY_RETRY_RULES: JSON.stringify({ package_unavailable: { first_delay: '10m', max_delay: '1h' } }),
} as const;

/**
 * For tests in which nothing waits for sweeper and reconciler: run every second, both keep a fifth of a core busy for
 * as long as the stack lives.
 */
export const RARE_UPKEEP = { POLICY_SWEEP_EVERY: '1h', POLICY_RECONCILE_EVERY: '1h' } as const;

/**
 * Waits that a person would call normal, shortened to what a test can wait for; the invariants do not depend on them.
 */
const SHORT_POLICY = {
  POLICY_SEND_DEADLINE: '3s',
  POLICY_SEND_LEASE: '5s',
  POLICY_SEND_ACTIVITY_TIMEOUT: '8s',
  POLICY_RESEND_WINDOW: '60s',
  POLICY_RESEND_DELAY: '200ms',
  POLICY_HOLD_DELAY: '300ms',
  POLICY_HOLD_DEADLINE: '5m',
  POLICY_SETTLE_DELAY: '300ms',
  POLICY_REFUND_GRACE: '1s',
  POLICY_ATTEMPT_DELAY: '200ms',
  POLICY_SILENT_AFTER: '2s',
  POLICY_RECONCILE_EVERY: '1s',
  POLICY_RELAY_POLL: '500ms',
  POLICY_RELAY_LEASE: '5s',
  POLICY_SWEEP_EVERY: '1s',
  POLICY_SWEEP_IDLE_AFTER: '2s',
  POLICY_BALANCE_AGE: '2s',
  POLICY_BALANCE_TRUST: '200ms',
  POLICY_PRICE_AGE: '1s',
  POLICY_CIRCUIT_PROBE_DELAY: '300ms',
  POLICY_CIRCUIT_PROBE_DELAY_MAX: '1s',
  POLICY_RELEASES_PER_SECOND: '50',
  POLICY_GATE_TICK: '200ms',
  POLICY_FIRST_PURCHASE_CHECK_EVERY: '200ms',
  POLICY_OUTBOUND_DEADLINE: '3s',
  POLICY_OUTBOUND_LEASE: '4s',
  POLICY_OUTBOUND_RETRY_DELAY: '200ms',
  POLICY_OUTBOUND_PROBE_DELAY_MAX: '2s',
} as const;

export interface StackOptions {
  /** Added to {@link SHORT_POLICY} and to the environment of every process: `{ POLICY_MAX_ATTEMPTS: '1' }`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Of the simulator alone: `{ SIMULATOR_PROCESSING_DELAY: '200ms' }`. */
  readonly simulator?: Readonly<Record<string, string>>;
  /** Of our account at the service. */
  readonly servicePassword?: string;
  /** What a test run shares; the present run's by default. */
  readonly servers?: SharedServers;
  /** A server of the test's own, where the test stops and starts it; else the run's. */
  readonly postgres?: Pick<OwnPostgres, 'url'>;
  readonly temporal?: Pick<OwnTemporal, 'address'>;
  /** File with the bundled workflows; the run's by default. */
  readonly workflowBundle?: string;
  /** Another entry point instead of a process's own: a saboteur that a test must catch. */
  readonly scripts?: Partial<Readonly<Record<ProcessName, string>>>;
  /** Which processes run at first; all of them by default. The others are started when the test says so. */
  readonly start?: readonly ProcessName[];
}

export type ProcessName = 'simulator' | 'api' | 'worker';

const workStatus = z.enum(WORK_STATUSES);

const SCRIPTS: Readonly<Record<ProcessName, string>> = {
  simulator: 'simulator/main.ts',
  api: 'api/main.ts',
  worker: 'worker/main.ts',
};

/**
 * The whole product as child processes, with a database, a namespace, a simulator and ports of its own.
 *
 * The caller stops it: `await using stack = await startStack()`, or `stop()` in `afterAll`.
 */
export class Stack implements AsyncDisposable {
  readonly databaseUrl: string;
  /** For looking at rows. */
  readonly database: Database;
  readonly temporal: { readonly address: string; readonly namespace: string };
  /** Our REST API, with a key that has every scope. */
  readonly api: HttpClient;
  /** The simulator: `/simulator/…` is its admin API. */
  readonly simulator: HttpClient;
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly environments: ProductEnvironments;
  readonly #readyUrls: Readonly<Record<ProcessName, string>>;
  readonly #scripts: Readonly<Record<ProcessName, string>>;
  readonly #sharesTemporal: boolean;
  readonly #processes = new Map<ProcessName, TestProcess>();
  readonly #started: TestProcess[] = [];
  readonly #cleanUp: () => Promise<void>;

  constructor(parts: {
    databaseUrl: string;
    database: Database;
    temporal: Stack['temporal'];
    apiKey: string;
    webhookSecret: string;
    ports: Readonly<Record<ProcessName, number>>;
    environments: ProductEnvironments;
    scripts: Readonly<Record<ProcessName, string>>;
    sharesTemporal: boolean;
    cleanUp: () => Promise<void>;
  }) {
    const at = (name: ProcessName, path = '') => `http://127.0.0.1:${parts.ports[name]}${path}`;
    this.databaseUrl = parts.databaseUrl;
    this.database = parts.database;
    this.temporal = parts.temporal;
    this.apiKey = parts.apiKey;
    this.webhookSecret = parts.webhookSecret;
    this.environments = parts.environments;
    this.api = new HttpClient(at('api'), { authorization: `Bearer ${parts.apiKey}` });
    this.simulator = new HttpClient(at('simulator'));
    this.#readyUrls = {
      simulator: at('simulator', '/simulator/state'),
      api: at('api', '/readyz'),
      worker: at('worker', '/readyz'),
    };
    this.#scripts = parts.scripts;
    this.#sharesTemporal = parts.sharesTemporal;
    this.#cleanUp = parts.cleanUp;
  }

  /** Starts a process and waits until it is ready. @param environment added for this start only. */
  async start(name: ProcessName, environment: Readonly<Record<string, string>> = {}): Promise<TestProcess> {
    if (this.#processes.get(name)?.running === true) throw new Error(`the ${name} is running already`);
    const started = await startProcess({
      name,
      script: this.#scripts[name],
      environment: { ...definedOf(this.environments[name]), ...environment },
      readyUrl: this.#readyUrls[name],
    });
    this.#processes.set(name, started);
    this.#started.push(started);
    return started;
  }

  /** The process that runs, or ran last. @throws Error when it was never started. */
  process(name: ProcessName): TestProcess {
    const found = this.#processes.get(name);
    if (found === undefined) throw new Error(`the ${name} was not started`);
    return found;
  }

  /** Ends a process at once, as a crash does. */
  async kill(name: ProcessName): Promise<void> {
    await this.process(name).kill();
  }

  /** Ends all processes at once, as a power cut does; database, Temporal and the simulator's ledger stay. */
  async killAll(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((running) => running.kill()));
  }

  /** `POST /v1/orders` with a fresh Idempotency-Key. */
  async order(body: { package_id: number; external_order_id?: string } & Record<string, unknown>) {
    return this.api.post(
      '/v1/orders',
      { external_order_id: `ext-${randomUUID()}`, ...body },
      { headers: { 'idempotency-key': randomUUID() } },
    );
  }

  /** Waits until an order has one of these statuses. @returns the answer to `GET /v1/orders/{id}`. */
  async orderReaches(orderId: string, statuses: readonly string[], timeoutMs?: number) {
    return this.workReaches(`/v1/orders/${orderId}`, statuses, timeoutMs);
  }

  /**
   * Waits until work has one of these statuses. @param path its address, such as `/v1/topups/top_…`. @returns the
   * answer to GET.
   */
  async workReaches(path: string, statuses: readonly string[], timeoutMs = 150_000) {
    return waitFor(
      `${path} is ${statuses.join(' or ')}`,
      async () => {
        const answer = await this.api.get(path);
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

  /** The ends of all logs, for failure messages. */
  tails(): string {
    return [...this.#processes.values()].map((running) => running.tail()).join('\n');
  }

  /** Everything that the processes of every start have printed. */
  outputs(): string {
    return this.#started.map((each) => `--- ${each.name}\n${each.output()}`).join('\n');
  }

  /** Stops everything in order and removes what it used. @throws Error when a process does not stop when asked. */
  async stop(): Promise<void> {
    try {
      for (const name of ['api', 'worker', 'simulator'] as const) await this.#processes.get(name)?.stop();
      // A courtesy to the stacks that come after this one: nothing is wrong with it where the server cannot take it.
      if (this.#processes.has('worker') && this.#sharesTemporal)
        await endSchedules(this.temporal).catch(() => undefined);
    } finally {
      await this.killAll();
      await this.#cleanUp();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Brings a {@link Stack} up: all of it, unless `options.start` says which part. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const stack = await prepareStack(options);
  const { start = ['simulator', 'api', 'worker'] } = options;
  try {
    await Promise.all(start.map((name) => stack.start(name)));
    return stack;
  } catch (error) {
    await stack.stop().catch(() => undefined);
    throw error;
  }
}

async function prepareStack(options: StackOptions): Promise<Stack> {
  const folder = temporaryFolder('stack');
  // Only vitest knows the servers of the run; a caller with servers of its own does not need it.
  const servers = () => options.servers ?? inject('servers');
  const temporalAddress = options.temporal?.address ?? servers().temporalAddress;
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const [created, ports] = await Promise.all([
    options.postgres === undefined ? createTestDatabase(servers()) : undefined,
    freePorts(),
    setUpNamespace({ address: temporalAddress, namespace, tls: false, apiKey: undefined }),
  ]);
  const databaseUrl = created?.url ?? options.postgres?.url ?? '';
  const database = openDatabase(databaseUrl);
  const { key, prefix, hash } = generateApiKey();
  await database.run((db) => addApiKey(db, { name: 'test', prefix, hash, scopes: apiScopes }));
  const webhookSecret = `whsec_${randomBytes(16).toString('hex')}`;
  const environments = productEnvironments(
    { ports, databaseUrl, temporalAddress, simulatorData: join(folder, 'simulator.sqlite') },
    {
      encryption_keys: `test:${randomBytes(32).toString('base64')}`,
      webhook_secret: webhookSecret,
      postgres_password: '',
      simulator_password: options.servicePassword ?? 'simulator-password',
    },
    {
      ...SHORT_POLICY,
      API_RATE_LIMIT: 'none',
      TEMPORAL_NAMESPACE: namespace,
      WORKFLOW_BUNDLE: options.workflowBundle ?? servers().workflowBundle,
      ...options.environment,
    },
  );
  return new Stack({
    databaseUrl,
    database,
    temporal: { address: temporalAddress, namespace },
    apiKey: key,
    webhookSecret,
    ports,
    environments: { ...environments, simulator: { ...environments.simulator, ...options.simulator } },
    scripts: { ...SCRIPTS, ...options.scripts },
    sharesTemporal: options.temporal === undefined,
    cleanUp: async () => {
      await database.close();
      await created?.drop();
      removeFolder(folder);
    },
  });
}

/**
 * Left to themselves, the schedules of stacks that have ended keep the run's server busy: half a core after fifteen of
 * them.
 */
async function endSchedules(temporal: Stack['temporal']): Promise<void> {
  const connection = await connect({ ...temporal, tls: false, apiKey: undefined });
  try {
    const { schedule } = new Client({ connection, namespace: temporal.namespace });
    for (const id of SCHEDULE_IDS) await schedule.getHandle(id).delete();
  } finally {
    await connection.close();
  }
}

async function freePorts() {
  const [api, worker, simulator] = await Promise.all([freePort(), freePort(), freePort()]);
  // The rest is not started by tests of the product; the environment names it all the same.
  return { api, worker, simulator, temporal: 0, temporalUi: 0, codec: 0, postgres: 0 };
}

function definedOf(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
