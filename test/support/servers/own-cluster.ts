/** A Temporal cluster of one test: the server proper on PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { inject } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { TemporalCluster, type FrontendTls } from '#cli/embedded/temporal-cluster.ts';
import { atEnd } from '#test/support/at-end.ts';
import type { SharedServers } from '#test/support/servers/shared-servers.ts';
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
  /** The servers of the run; the default is those of the present vitest run. */
  readonly servers?: SharedServers;
  /** An account of PostgreSQL that may create databases. The default is the shared server's. */
  readonly postgresUrl?: string;
}

/** @throws Error when this machine can neither find nor build the server: these tests must not pass unseen. */
export async function startOwnCluster({
  tls,
  // `inject` exists only in vitest. A caller with its own servers does not need it.
  servers = inject('servers'),
  postgresUrl = servers.postgresUrl,
}: OwnClusterOptions = {}): Promise<OwnCluster> {
  const { temporalPrograms: programs } = servers;
  if (typeof programs === 'string') throw new Error(`there is no Temporal cluster to test with: ${programs}`);
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
