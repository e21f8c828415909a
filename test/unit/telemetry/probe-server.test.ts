import { afterEach, describe, expect, it } from 'vitest';
import type { SmallServer } from '#telemetry/http-server.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { checkReadiness, type ReadinessCheck, startProbeServer } from '#telemetry/probes.ts';

let server: SmallServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function serve(checks: Record<string, ReadinessCheck>, checkDeadlineMs = 50) {
  const metrics = createMetrics({ processMetrics: false });
  server = await startProbeServer({ host: '127.0.0.1', port: 0, checks, metrics, checkDeadlineMs });
  return `http://127.0.0.1:${server.port}`;
}

describe('the probe server', () => {
  it('is alive while the process runs, independent of its checks', async () => {
    const address = await serve({ database: async () => Promise.reject(new Error('down')) });
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
  });

  it('answers 503 with every reason when a check fails, and shows no password', async () => {
    const away = new Error('cannot reach postgres://app:hunter22@db/x');
    const address = await serve({ database: async () => Promise.reject(away), temporal: async () => {} });
    const answer = await fetch(`${address}/readyz`);
    expect(answer.status).toBe(503);
    const text = await answer.text();
    expect(text).not.toContain('hunter22');
    expect(JSON.parse(text)).toMatchObject({
      status: 'not ready',
      checks: {
        database: { ok: false, detail: expect.stringContaining('cannot reach') as string },
        temporal: { ok: true },
      },
    });
  });

  it('reads once for all probes that ask meanwhile', async () => {
    let reads = 0;
    const { promise: gate, resolve } = Promise.withResolvers<void>();
    const database = async () => {
      reads += 1;
      await gate;
    };
    const address = await serve({ database }, 60_000);
    const probes = Array.from({ length: 20 }, () => fetch(`${address}/readyz`));
    await expect.poll(() => reads).toBe(1);
    resolve();
    expect((await Promise.all(probes)).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(reads).toBeLessThan(4);
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
  });
});

describe('readiness', () => {
  const silent = () => new Promise<never>(() => {});
  const broken = () => {
    throw new Error('broken check');
  };

  it.each<[string, ReadinessCheck | undefined, string | undefined]>([
    ['without checks is given', undefined, undefined],
    ['is not given when a check never answers', silent, 'no answer within 50 ms'],
    ['is not given when a check throws synchronously', broken, 'broken check'],
  ])('%s', async (_what, check, detail) => {
    const checks = detail === undefined ? {} : { check: { ok: false, detail } };
    const found = await checkReadiness(check === undefined ? {} : { check }, undefined, 50);
    expect(found).toEqual({ ready: detail === undefined, checks, degraded: [] });
  });

  it('lists degradations without being less ready, and none when they cannot be read', async () => {
    const degraded = [{ condition: 'not_approved', detail: 'Two orders are held.' }];
    expect(await checkReadiness({}, async () => degraded)).toEqual({ ready: true, checks: {}, degraded });
    const unknown = () => Promise.reject(new Error('the database is away'));
    expect(await checkReadiness({}, unknown)).toEqual({ ready: true, checks: {}, degraded: [] });
    expect(await checkReadiness({}, silent, 50)).toEqual({ ready: true, checks: {}, degraded: [] });
  });
});
