import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Peer } from '#bench/results.ts';
import { PROJECT } from '#bench/support/children.ts';
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

interface Version extends Peer {
  readonly id: 'ours' | 'before';
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
  const measured = 'The version before, of another checkout';
  return { id: 'before', measured, project, database: 'product_before', namespace: 'bench_before' };
}

export interface Product extends Contestant {
  readonly api: Child;
  readonly worker: Child;
}

export async function startProduct(context: BenchServers, version: Version = OURS): Promise<Product> {
  const { id, measured, namespace, project } = version;
  await context.postgres.createDatabase(version.database);
  const databaseUrl = context.postgres.url(version.database);
  const ports = { api: await freePort(), worker: await freePort(), simulator: await freePort() };
  const settings = { TEMPORAL_NAMESPACE: namespace, API_RATE_LIMIT: 'none' };
  const environments = environmentsAt(context, id, { ports, databaseUrl, settings });
  const isOurs = project === PROJECT;
  // Another version knows its own schema and namespace.
  if (isOurs) {
    await Promise.all([
      migrate(databaseUrl),
      setUpNamespace({ address: context.temporalAddress, namespace, tls: undefined, apiKey: undefined }),
    ]);
  } else await reseller(project, ['migrate'], environments.api);
  const apiKey = isOurs ? await addKey(databaseUrl) : await createdKey(project, environments.api);
  const start = async (name: keyof typeof ports) =>
    context.children.start({
      name: isOurs ? name : `${name}-${id}`,
      script: `${name}/main.ts`,
      project,
      environment: environments[name],
      ready: `http://127.0.0.1:${ports[name]}${name === 'simulator' ? '/simulator/state' : '/readyz'}`,
    });
  const [simulator, api, worker] = await Promise.all([start('simulator'), start('api'), start('worker')]);
  return {
    id,
    measured,
    namespace,
    databaseUrl,
    apiKey,
    api,
    worker,
    apiUrl: `http://127.0.0.1:${ports.api}`,
    simulatorUrl: `http://127.0.0.1:${ports.simulator}`,
    ordersPlaced: 0,
    processes: { simulator, api, worker },
    stop: async () => {
      for (const child of [api, worker, simulator]) await context.children.stop(child);
    },
  };
}

/** Only the named processes are started. @param id names the data of the simulator. */
export function environmentsAt(
  { temporalAddress, folder }: BenchServers,
  id: string,
  given: {
    readonly ports: Partial<Readonly<Record<'api' | 'worker' | 'simulator', number>>>;
    readonly databaseUrl: string;
    readonly secrets?: ReturnType<typeof benchSecrets>;
    readonly settings?: Environment;
  },
) {
  const { databaseUrl, secrets = benchSecrets(), settings = {} } = given;
  const ports = { api: 0, worker: 0, simulator: 1, temporal: 0, temporalUi: 0, codec: 0, postgres: 0, ...given.ports };
  const simulatorData = join(folder, `simulator-${id}.sqlite`);
  return productEnvironments({ ports, databaseUrl, temporalAddress, simulatorData }, secrets, settings);
}

/** An API without its worker: it only answers and stores. */
export async function startApi(
  context: BenchServers,
  name: string,
  given: Pick<Parameters<typeof environmentsAt>[2], 'databaseUrl' | 'secrets'>,
) {
  const api = await freePort();
  const settings = { API_RATE_LIMIT: '1000000' };
  const { api: environment } = environmentsAt(context, name, { ...given, ports: { api }, settings });
  const origin = `http://127.0.0.1:${api}`;
  const child = await context.children.start({ name, script: 'api/main.ts', environment, ready: `${origin}/readyz` });
  return { origin, stop: () => context.children.stop(child) };
}

/** A server that does the same as ours with less; it is no part of the product. */
export async function startPeer(context: BenchServers, name: string, script: string, environment: Environment) {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = await context.children.start({
    name,
    script,
    // Development mode only differs in its handling of errors.
    environment: { NODE_ENV: 'production', PORT: String(port), ...environment },
    ready: `${origin}/healthz`,
  });
  return { origin, stop: async () => void (await child.stop(5_000)) };
}

export async function createProductDatabase({ postgres }: BenchServers, name: string): Promise<string> {
  await postgres.createDatabase(name);
  const url = postgres.url(name);
  await migrate(url);
  return url;
}

export async function addKey(url: string): Promise<string> {
  const database = new Database({ url, poolSize: 2, applicationName: 'bench', onConnectionError: () => undefined });
  const { key, prefix, hash } = generateApiKey();
  await database.run((db) => addApiKey(db, { name: 'bench', prefix, hash, scopes: apiScopes }));
  await database.close();
  return key;
}

async function reseller(project: string, command: readonly string[], environment: Environment): Promise<string> {
  const { PATH, HOME } = process.env;
  const program = join(project, 'cli/reseller.mjs');
  const options = { cwd: project, env: { PATH, HOME, ...environment } };
  return (await promisify(execFile)(process.execPath, [program, ...command], options)).stdout;
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
