import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Processes } from '#bench/counters/processes.ts';
import { answersOk, PROJECT } from '#bench/support/children.ts';
import type { BenchServers } from '#bench/support/context.ts';
import type { Contestant } from '#bench/support/orders.ts';
import type { Child } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { productEnvironments } from '#cli/start/environment.ts';
import type { Environment } from '#config/environment.ts';
import { generateApiKey } from '#crypto/generated-secrets.ts';
import { addApiKey, apiScopes } from '#db/access/api-keys.ts';
import { Database } from '#db/connection/database.ts';
import { migrate } from '#db/connection/migrate.ts';
import { setUpNamespace } from '#temporal/set-up.ts';

/** Product and peer share the server and its settings. */
export const NAMESPACE = 'bench';

type ProcessName = 'simulator' | 'api' | 'worker';

const run = promisify(execFile);

interface Version {
  readonly id: 'ours' | 'before';
  readonly measured: string;
  readonly project: string;
  readonly database: string;
  readonly namespace: string;
}

const OURS: Version = {
  id: 'ours',
  measured: 'This version of the product',
  project: PROJECT,
  database: 'product',
  namespace: NAMESPACE,
};

export function versionBefore(project: string): Version {
  return {
    id: 'before',
    measured: 'The version before, of another checkout',
    project,
    database: 'product_before',
    namespace: 'bench_before',
  };
}

export async function createProductDatabase({ postgres }: BenchServers, name: string): Promise<string> {
  await postgres.createDatabase(name);
  const url = postgres.url(name);
  await migrate(url);
  return url;
}

/** The caller closes it. */
export function openDatabase(url: string): Database {
  return new Database({ url, poolSize: 2, applicationName: 'bench', onConnectionError: () => undefined });
}

export class Product implements Contestant {
  readonly id;
  readonly measured;
  readonly namespace;
  readonly apiUrl: string;
  readonly simulatorUrl: string;
  readonly databaseUrl: string;
  readonly database: Database;
  readonly apiKey: string;
  /** Counts all scenarios so far. */
  ordersPlaced = 0;
  readonly #context: BenchServers;
  readonly #version: Version;
  readonly #ports: Readonly<Record<ProcessName, number>>;
  readonly #environments: Readonly<Record<ProcessName, Environment>>;
  readonly #running = new Map<ProcessName, Child>();
  readonly #moreWorkers: Child[] = [];

  private constructor(parts: {
    context: BenchServers;
    version: Version;
    ports: Readonly<Record<ProcessName, number>>;
    environments: Readonly<Record<ProcessName, Environment>>;
    databaseUrl: string;
    database: Database;
    apiKey: string;
  }) {
    const { ports, version } = parts;
    this.id = version.id;
    this.measured = version.measured;
    this.namespace = version.namespace;
    this.#context = parts.context;
    this.#version = version;
    this.#ports = ports;
    this.#environments = parts.environments;
    this.apiUrl = `http://127.0.0.1:${ports.api}`;
    this.simulatorUrl = `http://127.0.0.1:${ports.simulator}`;
    this.databaseUrl = parts.databaseUrl;
    this.database = parts.database;
    this.apiKey = parts.apiKey;
  }

  static async start(context: BenchServers, version: Version = OURS): Promise<Product> {
    const { namespace } = version;
    const ours = version.project === PROJECT;
    await context.postgres.createDatabase(version.database);
    const databaseUrl = context.postgres.url(version.database);
    const ports = await freePorts();
    const environments = productEnvironments(
      {
        ports,
        databaseUrl,
        temporalAddress: context.temporalAddress,
        simulatorData: join(context.folder, `simulator-${version.id}.sqlite`),
      },
      benchSecrets(),
      { TEMPORAL_NAMESPACE: namespace, API_RATE_LIMIT: 'none' },
    );
    // Another version knows its own schema and namespace.
    if (ours) {
      await Promise.all([
        migrate(databaseUrl),
        setUpNamespace({ address: context.temporalAddress, namespace, tls: undefined, apiKey: undefined }),
      ]);
    } else await reseller(version.project, ['migrate'], environments.api);
    const database = openDatabase(databaseUrl);
    const apiKey = ours ? await addKey(database) : await createdKey(version.project, environments.api);
    const product = new Product({ context, version, ports, environments, databaseUrl, database, apiKey });
    await Promise.all((['simulator', 'api', 'worker'] as const).map(async (name) => product.#startProcess(name)));
    return product;
  }

  async #startProcess(name: ProcessName): Promise<void> {
    const path = name === 'simulator' ? '/simulator/state' : '/readyz';
    const child = await this.#context.children.start({
      name: this.id === 'ours' ? name : `${name}-${this.id}`,
      script: `${name}/main.ts`,
      project: this.#version.project,
      environment: this.#environments[name],
      isReady: answersOk(`http://127.0.0.1:${this.#ports[name]}${path}`),
    });
    this.#running.set(name, child);
  }

  /** The first worker always runs. */
  async haveWorkers(count: number): Promise<void> {
    for (let child; this.#moreWorkers.length >= count && (child = this.#moreWorkers.pop()) !== undefined;)
      await this.#context.children.stop(child);
    while (this.#moreWorkers.length + 1 < count) {
      const port = await freePort();
      const child = await this.#context.children.start({
        name: `worker-${this.#moreWorkers.length + 2}`,
        script: 'worker/main.ts',
        project: this.#version.project,
        environment: { ...this.#environments.worker, WORKER_PROBE_PORT: String(port) },
        isReady: answersOk(`http://127.0.0.1:${port}/readyz`),
      });
      this.#moreWorkers.push(child);
    }
  }

  processes(): Processes {
    const more = this.#moreWorkers.map((child) => [child.name, child] as const);
    return Object.fromEntries([...this.#running, ...more].map(([name, { identity }]) => [name, identity?.pid ?? 0]));
  }

  /** MB (10^6 bytes), by the process's own metrics. */
  async residentMb(name: 'api' | 'worker'): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.#ports[name]}/metrics`)).text();
    const bytes = /^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1];
    if (bytes === undefined) throw new Error(`the ${name} does not tell its resident memory`);
    return Number(bytes) / 1e6;
  }

  /** MB after all garbage was collected. Resident memory says less afterwards. */
  async liveHeapMb(name: 'api' | 'worker'): Promise<number> {
    return this.#context.children.liveHeapMb(this.#child(name));
  }

  /** @throws Error when one has ended by itself or does not stop. */
  async stop(): Promise<void> {
    await this.database.close();
    await this.haveWorkers(1);
    for (const name of ['api', 'worker', 'simulator'] as const) {
      const child = this.#running.get(name);
      if (child !== undefined) await this.#context.children.stop(child);
    }
  }

  #child(name: ProcessName): Child {
    const child = this.#running.get(name);
    if (child === undefined) throw new Error(`the ${name} does not run`);
    return child;
  }
}

async function addKey(database: Database): Promise<string> {
  const { key, prefix, hash } = generateApiKey();
  await database.run((db) => addApiKey(db, { name: 'bench', prefix, hash, scopes: apiScopes }));
  return key;
}

/** @returns the output. */
async function reseller(project: string, command: readonly string[], environment: Environment): Promise<string> {
  const { PATH, HOME } = process.env;
  const program = join(project, 'cli/reseller.mjs');
  const { stdout } = await run(process.execPath, [program, ...command], {
    cwd: project,
    env: { PATH, HOME, ...environment },
  });
  return stdout;
}

async function createdKey(project: string, environment: Environment): Promise<string> {
  const printed = await reseller(project, ['keys', 'create', 'bench', '--scopes', 'all'], environment);
  const key = /\brsk_\w+/.exec(printed)?.[0];
  if (key === undefined) throw new Error('the other version printed no API key');
  return key;
}

/** None is kept. */
export function benchSecrets() {
  return {
    encryption_keys: `bench:${randomBytes(32).toString('base64')}`,
    webhook_secret: `whsec_${randomBytes(16).toString('hex')}`,
    postgres_password: '',
    simulator_password: 'simulator-password',
  };
}

async function freePorts() {
  const [api, worker, simulator] = await Promise.all([freePort(), freePort(), freePort()]);
  // The rest is not started; the environment names it all the same.
  return { api, worker, simulator, temporal: 0, temporalUi: 0, codec: 0, postgres: 0 };
}
