import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { TemporalServer } from '#cli/embedded/temporal-server.ts';
import { tryConnection } from '#temporal/connection.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

it('leaves no port open when it is stopped while it starts', async () => {
  const folder = temporaryFolder('temporal-server-stop');
  const [port, uiPort] = await Promise.all([freePort(), freePort()]);
  const { path: cli } = await obtainTemporalCli({ environment: process.env, progress: () => undefined });
  const server = new TemporalServer({ cli, port, uiPort, logFile: join(folder, 'log'), environment: process.env });
  try {
    const starting = server.start();
    // It answers, but the start has not noticed yet.
    await waitFor('it listens', async () => (await accepts(port)) || undefined);
    await Promise.allSettled([starting, server.stop()]);
    expect([await accepts(port), await accepts(uiPort)]).toEqual([false, false]);
    expect(server.child).toBeUndefined();
  } finally {
    await server.kill();
    removeFolder(folder);
  }
});

it('variables of the Temporal CLI and of proxies in the shell change nothing', async () => {
  const folder = temporaryFolder('temporal-variables');
  const { path: cli } = await obtainTemporalCli({ environment: process.env, progress: () => undefined });
  const environment = { ...process.env, TEMPORAL_ENV: 'production' };
  const server = new TemporalServer({ cli, port: await freePort(), logFile: join(folder, 'log'), environment });
  vi.stubEnv('http_proxy', 'http://127.0.0.1:1');
  try {
    await server.start();
    const config = { address: server.address, namespace: 'default', tls: undefined, apiKey: undefined };
    await expect(tryConnection(config, {})).resolves.toBeUndefined();
  } finally {
    vi.unstubAllEnvs();
    await server.kill();
    removeFolder(folder);
  }
});
