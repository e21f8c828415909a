import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COUNTING_SETTINGS } from '#bench/counters/server-counters.ts';
import { Children } from '#bench/support/children.ts';
import { type EnginePeer, startDbos, startRestate } from '#bench/support/engines.ts';
import { Product, versionBefore } from '#bench/support/product.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { EmbeddedPostgres } from '#cli/embedded/postgres.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { TemporalCluster, obtainTemporalPrograms } from '#cli/embedded/temporal-cluster.ts';
import { TemporalServer } from '#cli/embedded/temporal-server.ts';

export interface BenchContext extends BenchServers {
  /** The first call starts it; scenarios share it. */
  product(): Promise<Product>;
  /** The first call starts it, if one was named. */
  before(): Promise<Product | undefined>;
  /** The first call starts them; none when left out. */
  engines(): Promise<readonly EnginePeer[]>;
}

/** Disposing ends at once what still runs. */
interface OpenContext extends BenchContext, AsyncDisposable {
  /** @throws Error when a process does not end as it should. */
  stopContestants(): Promise<void>;
}

interface ContextOptions {
  /** Another checkout that is measured, too. */
  readonly against?: string | undefined;
  readonly withoutEngines?: boolean;
  readonly cluster?: boolean;
}

interface TemporalProcess {
  readonly server: Pick<TemporalServer, 'address' | 'child' | 'start' | 'kill'>;
  readonly metricsUrl: string | undefined;
  readonly databases: readonly string[];
}

export async function openContext(
  mode: BenchContext['mode'],
  say: (text: string) => void,
  { against, withoutEngines = false, cluster = false }: ContextOptions = {},
): Promise<OpenContext> {
  const folder = mkdtempSync(join(tmpdir(), 'reseller-bench-'));
  // Under root, PostgreSQL runs as another account and must pass through.
  chmodSync(folder, 0o711);
  const children = new Children(join(folder, 'logs'));
  const postgres = await EmbeddedPostgres.prepare({
    dataDirectory: join(folder, 'postgres'),
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
    logFile: join(folder, 'logs', 'postgres.log'),
    // Four workers and the Temporal server exceed the default of 100.
    settings: { ...COUNTING_SETTINGS, ...(cluster && { max_connections: '300' }) },
  });
  let started: TemporalProcess | undefined;
  process.once('exit', () => {
    children.killNow();
    started?.server.child?.killNow();
    postgres.child?.killNow();
    rmSync(folder, { recursive: true, force: true });
  });
  await postgres.start();
  started = await (cluster ? temporalCluster(postgres, folder, say) : developmentServer(folder, say));
  const temporal = started.server;
  await temporal.start();

  let product: Promise<Product> | undefined;
  let before: Promise<Product> | undefined;
  let engines: ReturnType<typeof startEngines> | undefined;
  const context: BenchContext = {
    mode,
    postgres,
    temporalAddress: temporal.address,
    temporalMetricsUrl: started.metricsUrl,
    temporalDatabases: started.databases,
    sharedProcesses: {
      postgres: postgres.child?.identity?.pid ?? 0,
      temporal: temporal.child?.identity?.pid ?? 0,
    },
    children,
    folder,
    product: () => (product ??= Product.start(context)),
    before: async () =>
      against === undefined ? undefined : (before ??= Product.start(context, versionBefore(against))),
    engines: async () => (withoutEngines ? [] : (engines ??= startEngines(context))),
    say,
  };
  return {
    ...context,
    stopContestants: async () => {
      for (const peer of (await engines) ?? []) await peer.stop();
      for (const version of [before, product]) await (await version)?.stop();
    },
    [Symbol.asyncDispose]: async () => {
      await children.killAll();
      await Promise.all([temporal.kill(), postgres.kill()]);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function developmentServer(folder: string, say: (text: string) => void): Promise<TemporalProcess> {
  const cli = await obtainTemporalCli({
    environment: process.env,
    progress: (text) => say(`Temporal server: ${text}`),
  });
  const metricsPort = await freePort();
  const server = new TemporalServer({
    cli: cli.path,
    port: await freePort(),
    metricsPort,
    databaseFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'logs', 'temporal.log'),
    environment: process.env,
  });
  return { server, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`, databases: [] };
}

async function temporalCluster(
  postgres: EmbeddedPostgres,
  folder: string,
  say: (text: string) => void,
): Promise<TemporalProcess> {
  const programs = await obtainTemporalPrograms({ environment: process.env, progress: say, announce: say });
  const databases = { main: 'temporal', visibility: 'temporal_visibility' };
  const server = await TemporalCluster.prepare({
    programs,
    port: await freePort(),
    postgresUrl: postgres.url('postgres'),
    databases,
    logFile: join(folder, 'logs', 'temporal.log'),
  });
  return { server, metricsUrl: undefined, databases: Object.values(databases) };
}

async function startEngines(context: BenchContext): Promise<readonly EnginePeer[]> {
  return [await startDbos(context), await startRestate(context)];
}

export interface BenchServers {
  readonly mode: 'full' | 'quick';
  /** With default durability; each contestant has a database of its own. */
  readonly postgres: EmbeddedPostgres;
  readonly temporalAddress: string;
  /** Undefined on a cluster. */
  readonly temporalMetricsUrl: string | undefined;
  readonly sharedProcesses: Readonly<Record<'postgres' | 'temporal', number>>;
  readonly children: Children;
  /** None with the development server. */
  readonly temporalDatabases: readonly string[];
  readonly folder: string;
  say(text: string): void;
}
