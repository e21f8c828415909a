import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { answersOk } from '#bench/support/children.ts';
import type { BenchServers } from '#bench/support/servers.ts';
import type { Child } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { productEnvironments } from '#cli/start/environment.ts';
import { generateApiKey } from '#crypto/api-key.ts';
import { addApiKey } from '#db/access/api-keys.ts';
import { apiScopes } from '#db/access/api-scopes.ts';
import { Database } from '#db/connection/database.ts';
import { migrate } from '#db/connection/migrate.ts';
import { setUpNamespace } from '#temporal/set-up.ts';

/** Namespace of the product and of the peer: both have the same server and the same settings in it. */
export const NAMESPACE = 'bench';

type ProcessName = 'simulator' | 'api' | 'worker';

/** A migrated, empty database of its own in the run's PostgreSQL. @returns its connection string. */
export async function createProductDatabase({ postgres }: BenchServers, name: string): Promise<string> {
  await postgres.createDatabase(name);
  const url = postgres.url(name);
  await migrate(url);
  return url;
}

/** Our own pool on a database, for setting up and for reading rows. The caller closes it. */
export function openDatabase(url: string): Database {
  return new Database({ url, poolSize: 2, applicationName: 'bench', onConnectionError: () => undefined });
}

/** API, worker and simulator as processes, with the settings that they have by default. */
export class Product {
  readonly apiUrl: string;
  readonly simulatorUrl: string;
  readonly databaseUrl: string;
  readonly database: Database;
  readonly apiKey: string;
  /** By all scenarios so far. */
  ordersPlaced = 0;
  readonly #context: BenchServers;
  readonly #metricsUrls: Readonly<Record<'api' | 'worker', string>>;
  readonly #running: Map<ProcessName, Child>;

  private constructor(parts: {
    context: BenchServers;
    ports: Readonly<Record<ProcessName, number>>;
    databaseUrl: string;
    database: Database;
    apiKey: string;
    running: Map<ProcessName, Child>;
  }) {
    const { ports } = parts;
    this.#context = parts.context;
    this.apiUrl = `http://127.0.0.1:${ports.api}`;
    this.simulatorUrl = `http://127.0.0.1:${ports.simulator}`;
    this.databaseUrl = parts.databaseUrl;
    this.database = parts.database;
    this.apiKey = parts.apiKey;
    this.#running = parts.running;
    this.#metricsUrls = { api: `${this.apiUrl}/metrics`, worker: `http://127.0.0.1:${ports.worker}/metrics` };
  }

  static async start(context: BenchServers): Promise<Product> {
    const [databaseUrl, ports] = await Promise.all([
      createProductDatabase(context, 'product'),
      freePorts(),
      setUpNamespace({ address: context.temporalAddress, namespace: NAMESPACE, tls: false, apiKey: undefined }),
    ]);
    const database = openDatabase(databaseUrl);
    const { key, prefix, hash } = generateApiKey();
    await database.run((db) => addApiKey(db, { name: 'bench', prefix, hash, scopes: apiScopes }));
    const environments = productEnvironments(
      {
        ports,
        databaseUrl,
        temporalAddress: context.temporalAddress,
        simulatorData: join(context.folder, 'simulator.sqlite'),
      },
      benchSecrets(),
      { TEMPORAL_NAMESPACE: NAMESPACE, API_RATE_LIMIT: 'none' },
    );
    const readyPaths = { simulator: '/simulator/state', api: '/readyz', worker: '/readyz' } as const;
    const start = async (name: ProcessName) => {
      const isReady = answersOk(`http://127.0.0.1:${ports[name]}${readyPaths[name]}`);
      const environment = environments[name];
      return [name, await context.children.start({ name, script: `${name}/main.ts`, environment, isReady })] as const;
    };
    const running = new Map(await Promise.all([start('simulator'), start('api'), start('worker')]));
    return new Product({ context, ports, databaseUrl, database, apiKey: key, running });
  }

  /** Resident memory of a process, in MB (10^6 bytes), as its own metrics tell. */
  async residentMb(name: 'api' | 'worker'): Promise<number> {
    const text = await (await fetch(this.#metricsUrls[name])).text();
    const bytes = /^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1];
    if (bytes === undefined) throw new Error(`the ${name} does not tell its resident memory`);
    return Number(bytes) / 1e6;
  }

  /**
   * What a process keeps after all garbage was collected, in MB. Afterwards its resident memory says less than before.
   */
  async liveHeapMb(name: 'api' | 'worker'): Promise<number> {
    const child = this.#running.get(name);
    if (child === undefined) throw new Error(`the ${name} does not run`);
    return this.#context.children.liveHeapMb(child);
  }

  /** @throws Error when one of the processes has ended by itself or does not stop when asked. */
  async stop(): Promise<void> {
    await this.database.close();
    for (const name of ['api', 'worker', 'simulator'] as const) {
      const child = this.#running.get(name);
      if (child !== undefined) await this.#context.children.stop(child);
    }
  }
}

/** Secrets for the processes of one run; none of them is kept. */
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
  // The rest is not started here; the environment names it all the same.
  return { api, worker, simulator, temporal: 0, temporalUi: 0, codec: 0, postgres: 0 };
}
