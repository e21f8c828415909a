import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { heartbeat } from '#worker/workers.ts';

/** Runs an activity until the test ends it, with our interceptor around it, and counts its heartbeats. */
function begin(heartbeatTimeoutMs: number | undefined) {
  const environment = new MockActivityEnvironment(heartbeatTimeoutMs === undefined ? {} : { heartbeatTimeoutMs });
  const { promise: work, resolve: finish, reject: fail } = Promise.withResolvers<string>();
  const beats = { count: 0 };
  environment.on('heartbeat', () => (beats.count += 1));
  const { inbound } = heartbeat(environment.context);
  const result = inbound?.execute === undefined ? work : inbound.execute({ args: [], headers: {} }, () => work);
  return { beats, result, finish, fail };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('an activity', () => {
  it('sends several heartbeats per timeout while it runs, and none afterwards', async () => {
    const { beats, result, finish } = begin(9_000);
    vi.advanceTimersByTime(9_000);
    expect(beats.count).toBe(3);
    vi.advanceTimersByTime(90_000);
    expect(beats.count).toBe(33);
    finish('done');
    await expect(result).resolves.toBe('done');
    vi.advanceTimersByTime(90_000);
    expect(beats.count).toBe(33);
  });
});
