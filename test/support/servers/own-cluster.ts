/** A Temporal cluster of one test: the server proper on PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { inject } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { obtainTemporalPrograms, TemporalCluster, type FrontendTls } from '#cli/embedded/temporal-cluster.ts';
import { atEnd } from '#test/support/at-end.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

/** A Temporal server of one test, of either kind. */
export interface OwnTemporalServer extends AsyncDisposable {
  readonly address: string;
  /** Starts the server on the same port and data, and waits until it serves requests. */
  start(): Promise<void>;
  /** Stops it as an administrator would. */
  stop(): Promise<void>;
  /** Kills it as a crash does. */
  kill(): Promise<void>;
  /** Stops its process (SIGSTOP) until {@link thaw}. Connections stay open. */
  freeze(): void;
  thaw(): void;
}

export interface OwnCluster extends OwnTemporalServer {
  /** The present process of the server. */
  readonly pid: number;
}

export interface OwnClusterOptions {
  readonly tls?: FrontendTls;
  /** An account of PostgreSQL that may create databases. The default is the shared server's. */
  readonly postgresUrl?: string;
}

/** Starts a cluster. Its programs are built if the machine does not have them: `npm run prepare:temporal` does it before. */
export async function startOwnCluster({
  tls,
  // `inject` exists only in vitest. A caller with its own servers does not need it.
  postgresUrl = inject('servers').postgresUrl,
}: OwnClusterOptions = {}): Promise<OwnCluster> {
  const programs = await obtainTemporalPrograms({ environment: process.env, progress: () => undefined });
  const folder = temporaryFolder('cluster');
  const name = `temporal_${randomBytes(4).toString('hex')}`;
  const databases = { main: name, visibility: `${name}_visibility` };
  const cluster = await TemporalCluster.prepare({
    programs,
    port: await freePort(),
    postgresUrl,
    databases,
    ...(tls !== undefined && { tls }),
    logFile: join(folder, 'temporal.log'),
  });
  const takeBack = atEnd(() => cluster.child?.killNow());
  await cluster.start();
  return {
    address: cluster.address,
    get pid() {
      return cluster.child?.identity?.pid ?? 0;
    },
    start: () => cluster.start(),
    stop: () => cluster.stop(),
    kill: () => cluster.kill(),
    freeze: () => cluster.child?.signal('SIGSTOP'),
    thaw: () => cluster.child?.signal('SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      await cluster.kill();
      takeBack();
      await withClient(postgresUrl, async (client) => {
        for (const database of Object.values(databases)) await client.query(`DROP DATABASE ${database} WITH (FORCE)`);
      });
      removeFolder(folder);
    },
  };
}
