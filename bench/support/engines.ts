import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Peer } from '#bench/results.ts';
import { PROJECT } from '#bench/support/children.ts';
import type { BenchServers } from '#bench/support/context.ts';
import type { Contestant } from '#bench/support/orders.ts';
import { benchSecrets, environmentsAt } from '#bench/support/product.ts';
import type { Child } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { SIMULATOR_EMAIL } from '#cli/start/environment.ts';
import { messageOf, UserError } from '#cli/terminal/user-error.ts';

export interface EnginePeer extends Contestant {
  /** `POST {apiUrl}{emptyPath}{id}` runs three empty steps to their end. */
  readonly emptyPath: string;
}

export async function startEngines(context: BenchServers): Promise<readonly EnginePeer[]> {
  await installEngines(context);
  const dbos = await startPeer(context, {
    id: 'dbos',
    measured: 'The same order on DBOS Transact: same database server, same calls, same rows but for the reservation',
    // It is a library in the one process of the peer.
    engine: undefined,
    environment: {},
  });
  return [dbos, await startRestate(context)];
}

async function startRestate(context: BenchServers): Promise<EnginePeer> {
  const [ingress, admin, node, endpoint] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const server = {
    name: 'restate-server',
    command: restateServer(),
    args: ['--no-logo', '--bind-ip=127.0.0.1', '--advertised-host=127.0.0.1', `--bind-port=${node}`],
    environment: {
      RESTATE_BASE_DIR: join(context.folder, 'restate'),
      RESTATE_NODE_NAME: 'bench',
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_LOG_FILTER: 'warn',
    },
  };
  const engine = await context.children.startProgram(server, `http://127.0.0.1:${admin}/health`);
  return startPeer(context, {
    id: 'restate',
    measured: 'The same order on Restate: same database server, same calls, same rows but for the reservation',
    engine,
    environment: {
      ENGINE_PORT: String(endpoint),
      INGRESS_URL: `http://127.0.0.1:${ingress}`,
      ADMIN_URL: `http://127.0.0.1:${admin}`,
    },
  });
}

interface EngineOptions extends Peer {
  readonly id: 'dbos' | 'restate';
  readonly engine: Child | undefined;
  readonly environment: Readonly<Record<string, string>>;
}

async function startPeer(
  context: BenchServers,
  { id, measured, engine, environment }: EngineOptions,
): Promise<EnginePeer> {
  const database = `peer_${id}`;
  await context.postgres.createDatabase(database);
  const databaseUrl = context.postgres.url(database);
  const ports = { api: await freePort(), simulator: await freePort() };
  const secrets = benchSecrets();
  const apiKey = `peer_${randomBytes(24).toString('hex')}`;
  const environments = environmentsAt(context, id, { ports, databaseUrl, secrets });
  const apiUrl = `http://127.0.0.1:${ports.api}`;
  const simulatorUrl = `http://127.0.0.1:${ports.simulator}`;
  const simulator = await context.children.start({
    name: `simulator-${id}`,
    script: 'simulator/main.ts',
    environment: environments.simulator,
    ready: `${simulatorUrl}/simulator/state`,
  });
  const application = await context.children.start({
    name: `peer-${id}`,
    script: `bench/peers/engines/${id}-orders.ts`,
    environment: {
      NODE_ENV: 'production',
      PORT: String(ports.api),
      DATABASE_URL: databaseUrl,
      API_KEY: apiKey,
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      WEBHOOK_SECRET: secrets.webhook_secret,
      SERVICE_BASE_URL: `${environments.worker['SERVICE_BASE_URL']}/sandbox`,
      SERVICE_EMAIL: SIMULATOR_EMAIL,
      SERVICE_PASSWORD: secrets.simulator_password,
      ...environment,
    },
    ready: `${apiUrl}/healthz`,
  });
  const parts = { application, ...(engine && { engine }), simulator };
  return {
    id,
    measured,
    apiUrl,
    apiKey,
    databaseUrl,
    simulatorUrl,
    namespace: undefined,
    ordersPlaced: 0,
    emptyPath: '/empty/',
    processes: parts,
    stop: async () => {
      for (const child of Object.values(parts)) await context.children.stop(child);
    },
  };
}

/** A package of its own: only the benchmark needs these dependencies. */
const PACKAGE = join(PROJECT, 'bench/peers/engines');

async function installEngines(context: BenchServers): Promise<void> {
  const installed = join(PACKAGE, 'node_modules/.package-lock.json');
  const lock = join(PACKAGE, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  context.say('peers: their packages are installed once, with npm ci in bench/peers/engines');
  try {
    await promisify(execFile)('npm', ['ci'], { cwd: PACKAGE });
  } catch (error) {
    throw new UserError(
      `The packages of the peers could not be installed: ${messageOf(error)}`,
      'Run `npm ci` in bench/peers/engines, or leave these scenarios out with --only.',
    );
  }
}

function restateServer(): string {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  try {
    return createRequire(join(PACKAGE, 'package.json')).resolve(`${name}/bin/restate-server`);
  } catch (error) {
    throw new UserError(
      `The server of Restate is not installed: ${name}.`,
      'It exists for Linux and macOS. Leave these scenarios out with --only.',
      { cause: error },
    );
  }
}
