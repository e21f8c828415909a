import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COUNTING_SETTINGS } from '#bench/counters/server-counters.ts';
import { Children } from '#bench/support/children.ts';
import { type EnginePeer, startEngines } from '#bench/support/engines.ts';
import type { Contestant } from '#bench/support/orders.ts';
import { type Product, startProduct, versionBefore } from '#bench/support/product.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { EmbeddedPostgres } from '#cli/embedded/postgres.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { TemporalServer } from '#cli/embedded/temporal-server.ts';

export interface BenchServers {
  readonly mode: 'full' | 'quick';
  /** With default durability; each contestant has a database of its own. */
  readonly postgres: EmbeddedPostgres;
  readonly temporal: TemporalServer;
  readonly temporalAddress: string;
  readonly temporalMetricsUrl: string;
  readonly children: Children;
  readonly folder: string;
  say(text: string): void;
}

export interface BenchContext extends BenchServers {
  /** The first call starts it; scenarios share it. */
  product(): Promise<Product>;
  /** The first call starts them; none when left out. */
  engines(): Promise<readonly EnginePeer[]>;
  /** The first call starts them: the product, the version before if one was named, and the engines. */
  contestants(): Promise<readonly Contestant[]>;
}

/** Disposing ends at once what still runs. @param against another checkout that is measured, too. */
export async function openContext(
  mode: BenchContext['mode'],
  say: (text: string) => void,
  { against, withoutEngines }: { readonly against: string | undefined; readonly withoutEngines: boolean },
) {
  const folder = mkdtempSync(join(tmpdir(), 'reseller-bench-'));
  // Under root, PostgreSQL runs as another account and must pass through.
  chmodSync(folder, 0o711);
  const children = new Children(join(folder, 'logs'));
  const postgres = await EmbeddedPostgres.prepare({
    dataDirectory: join(folder, 'postgres'),
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
    logFile: join(folder, 'logs', 'postgres.log'),
    settings: COUNTING_SETTINGS,
  });
  const environment = process.env;
  const { path } = await obtainTemporalCli({ environment, progress: (text) => say(`Temporal server: ${text}`) });
  const metricsPort = await freePort();
  const temporal = new TemporalServer({
    cli: path,
    port: await freePort(),
    metricsPort,
    databaseFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'logs', 'temporal.log'),
    environment,
  });
  process.once('exit', () => {
    children.killNow();
    for (const server of [temporal, postgres]) server.child?.killNow();
    rmSync(folder, { recursive: true, force: true });
  });
  await postgres.start();
  await temporal.start();

  let product: Promise<Product> | undefined;
  let before: Promise<Product> | undefined;
  let engines: Promise<readonly EnginePeer[]> | undefined;
  const context: BenchContext = {
    mode,
    postgres,
    temporal,
    temporalAddress: temporal.address,
    temporalMetricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    children,
    folder,
    product: () => (product ??= startProduct(context)),
    engines: async () => (withoutEngines ? [] : (engines ??= startEngines(context))),
    contestants: async () => [
      await context.product(),
      ...(against === undefined ? [] : [await (before ??= startProduct(context, versionBefore(against)))]),
      ...(await context.engines()),
    ],
    say,
  };
  return {
    ...context,
    /** @throws Error when a process does not end as it should. */
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
