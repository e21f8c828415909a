/** The two servers of Temporal that the product runs, each with its UI. */
import { join } from 'node:path';
import type { Child } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { obtainTemporalPrograms } from '#cli/embedded/temporal-cluster.ts';
import { TemporalServer } from '#cli/embedded/temporal-server.ts';
import { TemporalUi } from '#cli/embedded/temporal-ui.ts';
import { startOwnCluster } from '#test/support/servers/own-cluster.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

export interface TemporalWithUi extends AsyncDisposable {
  readonly address: string;
  readonly uiUrl: string;
  /** The processes of the server and of the UI. */
  readonly pids: readonly number[];
}

/** The development server of `npm start`. @param codecEndpoint address of the codec server. */
export async function startDevelopmentServerWithUi(codecEndpoint: string): Promise<TemporalWithUi> {
  const folder = temporaryFolder('temporal-ui');
  const [port, uiPort] = await Promise.all([freePort(), freePort()]);
  const cli = await obtainTemporalCli({ environment: process.env, progress: () => undefined });
  const server = new TemporalServer({
    cli: cli.path,
    port,
    uiPort,
    codecEndpoint,
    logFile: join(folder, 'temporal.log'),
    environment: process.env,
  });
  await server.start();
  return {
    address: server.address,
    uiUrl: urlOf(uiPort),
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
    uiUrl: urlOf(uiPort),
    pids: [cluster.pid, ...pidsOf(ui.child)],
    [Symbol.asyncDispose]: async () => {
      await ui.stop();
      await cluster[Symbol.asyncDispose]();
      removeFolder(folder);
    },
  };
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function pidsOf(child: Child | undefined): number[] {
  const pid = child?.identity?.pid;
  return pid === undefined ? [] : [pid];
}
