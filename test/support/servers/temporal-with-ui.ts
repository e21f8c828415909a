/** The two servers of Temporal that the product runs, each with its UI. */
import { join } from 'node:path';
import type { Child } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { obtainTemporalPrograms } from '#cli/embedded/temporal-cluster.ts';
import { TemporalUi } from '#cli/embedded/temporal-ui.ts';
import { startTemporal } from '#test/support/servers/embedded.ts';
import { startOwnCluster } from '#test/support/servers/own-cluster.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

export type TemporalWithUi = Awaited<ReturnType<typeof startDevelopmentServerWithUi>>;

/** The development server of `npm start`. @param codecEndpoint address of the codec server. */
export async function startDevelopmentServerWithUi(codecEndpoint: string) {
  const folder = temporaryFolder('temporal-ui');
  const uiPort = await freePort();
  const server = await startTemporal(folder, { uiPort, codecEndpoint });
  return {
    address: server.address,
    uiUrl: `http://127.0.0.1:${uiPort}`,
    /** The processes of the server and of the UI. */
    pids: pidsOf(server.child),
    [Symbol.asyncDispose]: async () => {
      await server.kill();
      removeFolder(folder);
    },
  };
}

/** The server for PostgreSQL with the UI of a cluster, of compose and of Kubernetes. @param codecEndpoint as above. */
export async function startClusterWithUi(codecEndpoint: string): Promise<TemporalWithUi> {
  const programs = await obtainTemporalPrograms({ environment: process.env, progress: () => undefined });
  const folder = temporaryFolder('temporal-ui');
  const uiPort = await freePort();
  const cluster = await startOwnCluster();
  const ui = new TemporalUi({
    program: programs.ui,
    port: uiPort,
    temporalAddress: cluster.address,
    namespace: 'default',
    codecEndpoint,
    logFile: join(folder, 'temporal-ui.log'),
  });
  await ui.start();
  return {
    address: cluster.address,
    uiUrl: `http://127.0.0.1:${uiPort}`,
    pids: [cluster.pid, ...pidsOf(ui.child)],
    [Symbol.asyncDispose]: async () => {
      await ui.stop();
      await cluster[Symbol.asyncDispose]();
      removeFolder(folder);
    },
  };
}

function pidsOf(child: Child | undefined): number[] {
  const pid = child?.identity?.pid;
  return pid === undefined ? [] : [pid];
}
