import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { startProcess, TestProcess } from '#test/support/servers/processes.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

let codecServer: TestProcess | undefined;
afterEach(() => codecServer?.kill());

const processWith = (environment: Record<string, string>) =>
  new TestProcess({ name: 'codec-server', script: 'platform/temporal/codec-server-main.ts', environment });

describe('the process of the codec server', () => {
  it('serves until SIGTERM, and shows neither key nor token in its log', async () => {
    const port = await freePort();
    const environment = {
      ENCRYPTION_KEYS: `k1:${KEY}`,
      CODEC_PORT: String(port),
      CODEC_TOKEN: 'a-token-of-the-codec-server',
      LOG_LEVEL: 'trace',
    };
    codecServer = await startProcess({
      name: 'codec-server',
      script: 'platform/temporal/codec-server-main.ts',
      environment,
      readyUrl: `http://127.0.0.1:${port}/healthz`,
    });
    const answer = await fetch(`http://127.0.0.1:${port}/decode`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${environment.CODEC_TOKEN}` },
      body: '{"payloads":[]}',
    });
    expect(answer.status).toBe(200);
    codecServer.signal('SIGTERM');
    expect(await codecServer.exit()).toEqual({ code: 0, signal: null });
    expect(codecServer.output()).toContain('has stopped');
    expect(codecServer.output()).not.toContain(KEY);
    expect(codecServer.output()).not.toContain(environment.CODEC_TOKEN);
  });

  it('reports the setting to change when its port is taken', async () => {
    const port = String(await freePort());
    const environment = { ENCRYPTION_KEYS: `k1:${KEY}`, CODEC_PORT: port };
    codecServer = await startProcess({
      name: 'codec-server',
      script: 'platform/temporal/codec-server-main.ts',
      environment,
      readyUrl: `http://127.0.0.1:${port}/healthz`,
    });
    await using second = processWith(environment);
    expect(await second.exit()).toEqual({ code: 1, signal: null });
    expect(second.output()).toContain('CODEC_PORT');
    expect(second.output()).toContain('EADDRINUSE');
  });
});
