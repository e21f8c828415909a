/** A Temporal cluster of one test: the server proper on PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { inject } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { obtainTemporalPrograms, TemporalCluster } from '#cli/embedded/temporal-cluster.ts';
import type { TemporalTls } from '#config/config.ts';
import { atEnd } from '#test/support/at-end.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

/** These are paths of PEM files. */
interface FrontendTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  /** A client without its certificate is refused. */
  readonly clientCa?: string;
  /** For our own check of readiness. The server name is that of the certificate. */
  readonly client: TemporalTls & { readonly serverName: string };
}

/**
 * Starts a cluster. Its programs are built if the machine lacks them: `npm run prepare:temporal` does it before.
 *
 * @param options.postgresUrl an account of PostgreSQL that may create databases. The default is the shared server's.
 */
export async function startOwnCluster({
  tls,
  // `inject` exists only in vitest. A caller with its own servers does not need it.
  postgresUrl = inject('servers').postgresUrl,
}: { readonly tls?: FrontendTls; readonly postgresUrl?: string } = {}) {
  const programs = await obtainTemporalPrograms({ environment: process.env, progress: () => undefined });
  const folder = temporaryFolder('cluster');
  const name = `temporal_${randomBytes(4).toString('hex')}`;
  const databases = { main: name, visibility: `${name}_visibility` };
  const cluster = await TemporalCluster.prepare({
    programs,
    port: await freePort(),
    postgresUrl,
    databases,
    ...(tls !== undefined && { more: { environment: tlsVariables(tls), tls: tls.client } }),
    logFile: join(folder, 'temporal.log'),
  });
  const takeBack = atEnd(() => cluster.child?.killNow());
  await cluster.start();
  return {
    address: cluster.address,
    /** The present process of the server. */
    get pid() {
      return cluster.child?.identity?.pid ?? 0;
    },
    /** Starts the server on the same port and data, and waits until it serves requests. */
    start: () => cluster.start(),
    /** Stops it as an administrator would. */
    stop: () => cluster.stop(),
    kill: () => cluster.kill(),
    /** Stops its process until `thaw`. Connections stay open. */
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

/** The services of the server talk to each other by TLS as well. */
function tlsVariables({ cert, key, ca, clientCa, client }: FrontendTls): Readonly<Record<string, string>> {
  return {
    TEMPORAL_TLS_FRONTEND_CERT: cert,
    TEMPORAL_TLS_FRONTEND_KEY: key,
    TEMPORAL_TLS_SERVER_CERT: cert,
    TEMPORAL_TLS_SERVER_KEY: key,
    TEMPORAL_TLS_SERVER_CA_CERT: ca,
    TEMPORAL_TLS_FRONTEND_SERVER_NAME: client.serverName,
    TEMPORAL_TLS_INTERNODE_SERVER_NAME: client.serverName,
    ...(clientCa !== undefined && {
      TEMPORAL_TLS_REQUIRE_CLIENT_AUTH: 'true',
      TEMPORAL_TLS_CLIENT1_CA_CERT: clientCa,
      TEMPORAL_TLS_CLIENT2_CA_CERT: ca,
    }),
  };
}
