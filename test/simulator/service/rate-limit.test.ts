import { describe, expect, it } from 'vitest';
import { startTestSimulator } from '#test/simulator/support.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';

const MIDNIGHT = Date.parse('2026-01-01T00:00:00Z');
const fieldsOf = ({ headers }: HttpAnswer) =>
  ['ratelimit-policy', 'ratelimit', 'retry-after'].map((name) => headers.get(name));

describe('a rate limit', () => {
  it('allows the configured calls of a token in a window, and shows how many are left', async () => {
    let now = MIDNIGHT;
    await using simulator = await startTestSimulator({ rateLimit: 2, now: () => now });
    now += 15_000;
    expect(fieldsOf(await simulator.sandbox.get('/wallet'))).toEqual(['"token";q=2;w=60', '"token";r=1;t=45', null]);
    now += 500;
    expect(fieldsOf(await simulator.sandbox.get('/wallet'))).toEqual(['"token";q=2;w=60', '"token";r=0;t=45', null]);
    const refused = await simulator.sandbox.get('/wallet');
    expect([refused.status, refused.at('error', 'code')]).toEqual([429, 'rate_limited']);
    expect(fieldsOf(refused)).toEqual(['"token";q=2;w=60', '"token";r=0;t=45', '45']);
    now += 44_499;
    expect((await simulator.sandbox.get('/wallet')).status).toBe(429);
    now += 1;
    expect((await simulator.sandbox.get('/wallet')).status).toBe(200);
  });
});
