import { describe, expect, it } from 'vitest';
import { createLogger } from '#telemetry/logger.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { TemporalHealth } from '#worker/health.ts';

const logger = createLogger({ level: 'silent', name: 'test' });

function health(ping: () => Promise<unknown>) {
  const clock = { now: 1_000_000 };
  const metrics = createMetrics({ processMetrics: false });
  const policy = { everyMs: 5_000, deadlineMs: 1, unreachableAfterMs: 15_000 };
  const watched = new TemporalHealth({ ping, policy, metrics, logger, now: () => clock.now });
  const silence = async () => (await metrics.temporalUnreachable.get()).values[0]?.value;
  return { watched, clock, silence };
}

describe('the health check of Temporal', () => {
  it('fails after a long silence of Temporal, and not after one lost ping', async () => {
    const { watched, clock, silence } = health(() => new Promise(() => undefined));
    clock.now += 5_000;
    await watched.ping();
    expect(() => watched.check()).not.toThrow();
    clock.now += 10_000;
    await watched.ping();
    expect(() => watched.check()).toThrow('has not answered for 15 s (no answer within 1 ms)');
    expect(await silence()).toBe(15);
  });

  it('passes again with the first answer', async () => {
    const answers = [Promise.reject(new Error('down')), Promise.resolve()];
    const { watched, clock, silence } = health(() => answers.shift()!);
    clock.now += 60_000;
    await watched.ping();
    expect(() => watched.check()).toThrow('has not answered for 60 s (down)');
    await watched.ping();
    expect(() => watched.check()).not.toThrow();
    expect(await silence()).toBe(0);
  });
});
