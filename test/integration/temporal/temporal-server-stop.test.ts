import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
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

/** A server that does not run yet, until the test ends. */
async function newServer(ports: { readonly port: number; readonly uiPort?: number }, environment = process.env) {
  const folder = temporaryFolder('temporal-server');
  const { path: cli } = await obtainTemporalCli({ environment: process.env, progress: () => undefined });
  const server = new TemporalServer({ cli, ...ports, logFile: join(folder, 'log'), environment });
  onTestFinished(async () => {
    await server.kill();
    removeFolder(folder);
  });
  return server;
}

it('leaves no port open when it is stopped while it starts', async () => {
  const [port, uiPort] = await Promise.all([freePort(), freePort()]);
  const server = await newServer({ port, uiPort });
  const starting = server.start();
  // It answers, but the start has not noticed yet.
  await waitFor('it listens', () => accepts(port));
  await Promise.allSettled([starting, server.stop()]);
  expect([await accepts(port), await accepts(uiPort)]).toEqual([false, false]);
  expect(server.child).toBeUndefined();
});

it('variables of the Temporal CLI and of proxies in the shell change nothing', async () => {
  const server = await newServer({ port: await freePort() }, { ...process.env, TEMPORAL_ENV: 'production' });
  vi.stubEnv('http_proxy', 'http://127.0.0.1:1');
  onTestFinished(() => void vi.unstubAllEnvs());
  await server.start();
  const config = { address: server.address, namespace: 'default', tls: undefined, apiKey: undefined };
  await expect(tryConnection(config, {})).resolves.toBeUndefined();
});
