import { afterEach, expect, it, vi } from 'vitest';
import { Waits } from '#api/waits/waits.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { createMetrics } from '#telemetry/metrics.ts';

afterEach(() => vi.useRealTimers());

it('a wait ends within seconds also when no event tells of the change', async () => {
  vi.useFakeTimers();
  const tail = { stopped: false, listen: () => () => undefined };
  const waits = new Waits({ tail, policy: DEFAULT_POLICY.waiting, metrics: createMetrics({ processMetrics: false }) });
  let status = 'submitting';
  const answer = waits.until({
    seconds: 50,
    lineageId: 'key_1',
    isRelevant: () => true,
    onClose: () => undefined,
    read: () => Promise.resolve(status),
    isEnough: (found) => found === 'needs_attention',
  });
  await vi.advanceTimersByTimeAsync(1_000);
  status = 'needs_attention';
  await vi.advanceTimersByTimeAsync(11_000);
  expect(await Promise.race([answer, Promise.resolve('it still waits')])).toEqual({
    found: 'needs_attention',
    isGranted: true,
  });
});
