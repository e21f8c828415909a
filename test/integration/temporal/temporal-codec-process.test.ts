import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { startProcess, TestProcess } from '#test/support/servers/processes.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');
const TOKEN = 'a-token-of-the-codec-server';

/** Starts the process on a port until the test ends, and waits until it is ready. */
async function start(port: number, more: Record<string, string> = {}) {
  const environment = { ENCRYPTION_KEYS: `k1:${KEY}`, CODEC_PORT: String(port), ...more };
  const options = { name: 'codec-server', script: 'platform/temporal/codec-server-main.ts', environment };
  const codecServer = await startProcess({ ...options, readyUrl: `http://127.0.0.1:${port}/healthz` });
  onTestFinished(() => codecServer.kill());
  return { options, codecServer };
}

describe('the process of the codec server', () => {
  it('serves until SIGTERM, and shows neither key nor token in its log', async () => {
    const port = await freePort();
    const { codecServer } = await start(port, { CODEC_TOKEN: TOKEN, LOG_LEVEL: 'trace' });
    const answer = await fetch(`http://127.0.0.1:${port}/decode`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}` },
      body: '{"payloads":[]}',
    });
    expect(answer.status).toBe(200);
    codecServer.signal('SIGTERM');
    expect(await codecServer.exit()).toEqual({ code: 0, signal: null });
    expect(codecServer.output()).toContain('has stopped');
    for (const secret of [KEY, TOKEN]) expect(codecServer.output()).not.toContain(secret);
  });

  it('reports the setting to change when its port is taken', async () => {
    const { options } = await start(await freePort());
    await using second = new TestProcess(options);
    expect(await second.exit()).toEqual({ code: 1, signal: null });
    expect(second.output()).toContain('CODEC_PORT');
    expect(second.output()).toContain('EADDRINUSE');
  });
});
