import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Children } from '#bench/support/children.ts';
import { Product } from '#bench/support/product.ts';
import type { BenchServers } from '#bench/support/servers.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { EmbeddedPostgres } from '#cli/embedded/postgres.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { TemporalServer } from '#cli/embedded/temporal-server.ts';

/** What every scenario is given. */
export interface BenchContext extends BenchServers {
  /** The whole product, started by the first call; scenarios that carry out orders share it. */
  product(): Promise<Product>;
}

/** Disposing it ends at once what still runs. */
export interface OpenContext extends BenchContext, AsyncDisposable {
  /** Stops the product if it was started. @throws Error when one of its processes does not end as it should. */
  stopProduct(): Promise<void>;
}

/** Starts the servers that the contestants share. */
export async function openContext(mode: BenchContext['mode'], say: (text: string) => void): Promise<OpenContext> {
  const folder = mkdtempSync(join(tmpdir(), 'reseller-bench-'));
  // PostgreSQL runs as another account under root and must be able to pass through.
  chmodSync(folder, 0o711);
  const children = new Children(join(folder, 'logs'));
  const postgres = await EmbeddedPostgres.prepare({
    dataDirectory: join(folder, 'postgres'),
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
    logFile: join(folder, 'logs', 'postgres.log'),
  });
  const cli = await obtainTemporalCli({
    environment: process.env,
    progress: (text) => say(`Temporal server: ${text}`),
  });
  const temporal = new TemporalServer({
    cli: cli.path,
    port: await freePort(),
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
  const context: BenchContext = {
    mode,
    postgres,
    temporalAddress: temporal.address,
    children,
    folder,
    product: () => (product ??= Product.start(context)),
    say,
  };
  return {
    ...context,
    stopProduct: async () => (await product)?.stop(),
    [Symbol.asyncDispose]: async () => {
      await children.killAll();
      await Promise.all([temporal.kill(), postgres.kill()]);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
