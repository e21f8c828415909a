import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDbos, startRestate, type EnginePeer } from '#bench/contestants/engines.ts';
import { COUNTING_SETTINGS } from '#bench/counters/postgres-counters.ts';
import { Children } from '#bench/support/children.ts';
import { Product, versionBefore } from '#bench/support/product.ts';
import type { BenchServers } from '#bench/support/servers.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { EmbeddedPostgres } from '#cli/embedded/postgres.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { TemporalServer } from '#cli/embedded/temporal-server.ts';

/** What every scenario is given. */
export interface BenchContext extends BenchServers {
  /** How many subscriptions sleep, where another number was asked for. */
  readonly sleeping: number | undefined;
  /** The whole product, started by the first call; scenarios that carry out orders share it. */
  product(): Promise<Product>;
  /** The version before, if one was named; started by the first call. */
  before(): Promise<Product | undefined>;
  /** The same order on other engines, started by the first call; none when they were left out. */
  engines(): Promise<readonly EnginePeer[]>;
}

/** Disposing it ends at once what still runs. */
export interface OpenContext extends BenchContext, AsyncDisposable {
  /** Stops all contestants that were started. @throws Error when one of its processes does not end as it should. */
  stopContestants(): Promise<void>;
}

interface ContextOptions {
  /** Folder of another checkout that is measured, too. */
  readonly against?: string | undefined;
  readonly sleeping?: number | undefined;
  readonly withoutEngines?: boolean;
}

/** Starts the servers that the contestants share. */
export async function openContext(
  mode: BenchContext['mode'],
  say: (text: string) => void,
  { against, sleeping, withoutEngines = false }: ContextOptions = {},
): Promise<OpenContext> {
  const folder = mkdtempSync(join(tmpdir(), 'reseller-bench-'));
  // PostgreSQL runs as another account under root and must be able to pass through.
  chmodSync(folder, 0o711);
  const children = new Children(join(folder, 'logs'));
  const postgres = await EmbeddedPostgres.prepare({
    dataDirectory: join(folder, 'postgres'),
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
    logFile: join(folder, 'logs', 'postgres.log'),
    settings: COUNTING_SETTINGS,
  });
  const cli = await obtainTemporalCli({
    environment: process.env,
    progress: (text) => say(`Temporal server: ${text}`),
  });
  const metricsPort = await freePort();
  const temporal = new TemporalServer({
    cli: cli.path,
    port: await freePort(),
    metricsPort,
    databaseFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'logs', 'temporal.log'),
    environment: process.env,
  });
  process.once('exit', () => {
    children.killNow();
    temporal.child?.killNow();
    postgres.child?.killNow();
    rmSync(folder, { recursive: true, force: true });
  });
  await Promise.all([postgres.start(), temporal.start()]);

  let product: Promise<Product> | undefined;
  let before: Promise<Product> | undefined;
  let engines: ReturnType<typeof startEngines> | undefined;
  const context: BenchContext = {
    mode,
    sleeping,
    postgres,
    temporalAddress: temporal.address,
    temporalMetricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
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

async function startEngines(context: BenchContext): Promise<readonly EnginePeer[]> {
  return [await startDbos(context), await startRestate(context)];
}
