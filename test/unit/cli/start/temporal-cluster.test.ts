import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { TemporalCluster } from '#cli/embedded/temporal-cluster.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

/** Starts a server that writes the port of a service and a sentence, and ends. @returns the lines it wrote. */
async function endsWith(sentence: string): Promise<string[]> {
  const folder = temporaryFolder('cluster');
  const server = join(folder, 'server');
  writeFileSync(server, `#!/bin/sh\necho "$HISTORY_GRPC_PORT ${sentence}"\nexit 1\n`);
  chmodSync(server, 0o755);
  const logFile = join(folder, 'log');
  const cluster = await TemporalCluster.prepare({
    programs: { server, sqlTool: '/usr/bin/true', ui: '/usr/bin/true' },
    port: await freePort(),
    postgresUrl: 'postgres://nobody@127.0.0.1:1/postgres',
    databases: { main: 'main', visibility: 'visibility' },
    logFile,
  });
  await expect(cluster.start()).rejects.toThrow(sentence);
  return readFileSync(logFile, 'utf8').trim().split('\n');
}

describe('the embedded cluster', () => {
  it('is started again with other ports when another program has taken one', async () => {
    const lines = await endsWith('listen tcp 127.0.0.1:17000: bind: address already in use');
    expect(new Set(lines).size).toBe(3);
    expect(lines).toHaveLength(3);
  });

  it('is not started again after another error', async () => {
    expect(await endsWith('no configuration')).toHaveLength(1);
  });
});
