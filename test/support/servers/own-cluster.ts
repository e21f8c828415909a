/** A Temporal cluster of one test: the server proper on the shared PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { inject } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { TemporalCluster, type FrontendTls } from '#cli/embedded/temporal-cluster.ts';
import { atEnd } from '#test/support/at-end.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

export interface OwnCluster extends AsyncDisposable {
  readonly address: string;
  /** Stops the server as an administrator would, and starts it on the same port and data. */
  restart(): Promise<void>;
}

/** @throws Error when this machine can neither find nor build the server: these tests must not pass unseen. */
export async function startOwnCluster(options: { readonly tls?: FrontendTls } = {}): Promise<OwnCluster> {
  const { temporalPrograms: programs, postgresUrl } = inject('servers');
  if (typeof programs === 'string') throw new Error(`there is no Temporal cluster to test with: ${programs}`);
  const folder = temporaryFolder('cluster');
  const name = `temporal_${randomBytes(4).toString('hex')}`;
  const databases = { main: name, visibility: `${name}_visibility` };
  const cluster = await TemporalCluster.prepare({
    programs,
    port: await freePort(),
    postgresUrl,
    databases,
    ...options,
    logFile: join(folder, 'temporal.log'),
  });
  const takeBack = atEnd(() => cluster.child?.killNow());
  await cluster.start();
  return {
    address: cluster.address,
    restart: async () => {
      await cluster.stop();
      await cluster.start();
    },
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
