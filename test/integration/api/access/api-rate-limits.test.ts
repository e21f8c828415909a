import { describe, expect, it } from 'vitest';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { generateApiKey } from '#crypto/generated-secrets.ts';
import { newKey, successorOf } from '#test/support/api/keys.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { HttpClient, type HttpAnswer } from '#test/support/network/http.ts';

// 60 a minute: ten at once, then one a second.
const rateLimits = { perMinute: 60, failuresPerMinute: 3, sharePagesPerMinute: 60 };
const api = disposedAtEnd(await startTestApi({ rateLimits, trustedProxies: ['127.0.0.1'] }));
const stranger = new HttpClient(api.baseUrl);

const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
const limits = ({ status, headers }: HttpAnswer) => [
  status,
  ...['ratelimit-policy', 'ratelimit', 'retry-after'].map((name) => headers.get(name)),
];
async function statuses(count: number, ask: () => Promise<HttpAnswer>): Promise<number[]> {
  const all: number[] = [];
  for (let asked = 0; asked < count; asked += 1) all.push((await ask()).status);
  return all;
}

describe('the limit of an API key', () => {
  it('appears in every answer, refuses excess requests with 429, and recovers with time', async () => {
    const caller = await api.caller(['orders:read']);
    expect(limits(await caller.get('/v1/orders'))).toEqual([200, '"key";q=10;w=10', '"key";r=9;t=1', null]);
    expect(limits(await caller.get('/v1/orders/x'))).toEqual([404, '"key";q=10;w=10', '"key";r=8;t=2', null]);
    expect(limits(await caller.get('/v1/wallet'))).toEqual([403, '"key";q=10;w=10', '"key";r=7;t=3', null]);
    expect(await statuses(7, () => caller.get('/v1/orders'))).toEqual(Array<number>(7).fill(200));
    const refused = await caller.get('/v1/orders');
    expect(limits(refused)).toEqual([429, '"key";q=10;w=10', '"key";r=0;t=10', '1']);
    expect(refused.read(problemSchema).code).toBe('rate_limited');
    api.clock.now += 2_000;
    expect(await statuses(3, () => caller.get('/v1/orders'))).toEqual([200, 200, 429]);
    api.clock.now = TEST_NOW;
  });

  it('can be set per key, and is shared with successors, so a rotation adds nothing', async () => {
    const first = await newKey(api, { rateLimit: 12 });
    const second = await successorOf(api, first.prefix, 1_000);
    const ask = ({ client }: { client: HttpClient }) => client.get('/v1/orders');
    expect(limits(await ask(first))).toEqual([200, '"key";q=2;w=10', '"key";r=1;t=5', null]);
    expect(limits(await ask(second))).toEqual([200, '"key";q=2;w=10', '"key";r=0;t=10', null]);
    expect(limits(await ask(first))).toEqual([429, '"key";q=2;w=10', '"key";r=0;t=10', '5']);
    expect((await (await api.caller(['orders:read'])).get('/v1/orders')).status).toBe(200);
  });

  it('does not apply to probes, documentation and service webhooks', async () => {
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/problems/rate-limited']) {
      const answer = await stranger.get(path);
      expect([path, answer.status, answer.headers.get('ratelimit')]).toEqual([path, 200, null]);
    }
    for (let sent = 0; sent < 15; sent += 1)
      expect((await api.deliver({ body: { event: 'nothing.known' } })).status).toBe(200);
  });
});

describe('failed authentication', () => {
  const guess = (address: string) =>
    stranger.with({ authorization: `Bearer ${generateApiKey().key}` }).get('/v1/orders', from(address));

  it('is limited by address with 429, without effect on others, until time has passed', async () => {
    expect(await statuses(5, () => guess('192.0.2.1'))).toEqual([401, 401, 401, 429, 429]);
    expect(await statuses(1, () => stranger.get('/v1/orders', from('192.0.2.1')))).toEqual([429]);
    expect((await guess('192.0.2.2')).status).toBe(401);
    const refused = await guess('192.0.2.1');
    expect([refused.headers.get('retry-after'), refused.read(problemSchema).code]).toEqual(['20', 'rate_limited']);
    api.clock.now += 20_000;
    expect(await statuses(2, () => guess('192.0.2.1'))).toEqual([401, 429]);
    api.clock.now = TEST_NOW;
    expect(api.log.filter((line) => line.includes('fails to authenticate too often')).length).toBeGreaterThan(0);
  });

  it('does not block a key that was valid before, and blocks an unknown one for a time', async () => {
    const known = await api.caller(['orders:read']);
    const address = from('192.0.2.7');
    expect((await known.get('/v1/orders', address)).status).toBe(200);
    expect(await statuses(4, () => guess('192.0.2.7'))).toEqual([401, 401, 401, 429]);
    expect((await known.get('/v1/orders', address)).status).toBe(200);
    const fresh = await api.caller(['orders:read']);
    expect((await fresh.get('/v1/orders', address)).status).toBe(429);
    api.clock.now += 20_000;
    expect((await fresh.get('/v1/orders', address)).status).toBe(200);
    api.clock.now = TEST_NOW;
  });

  it('uses X-Forwarded-For only from a configured proxy', async () => {
    await using direct = await startTestApi({ rateLimits });
    const client = new HttpClient(direct.baseUrl);
    let address = 0;
    const ask = () => client.get('/v1/orders', from(`198.51.100.${(address += 1)}`));
    expect(await statuses(4, ask)).toEqual([401, 401, 401, 429]);
  });
});
