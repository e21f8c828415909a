import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { apiKeys } from '#db/schema.ts';
import { newKey } from '#test/support/api/keys.ts';
import { problemOf } from '#test/support/api/order-calls.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

const api = disposedAtEnd(await startTestApi());

describe('API keys', () => {
  it.each([
    ['a known prefix with another secret', (key: string) => `Bearer ${key.slice(0, -4)}0000`, 'not valid'],
    ['a key of production', (key: string) => `Bearer ${key.replace('_test_', '_live_')}`, 'made for production'],
    ['two keys', (key: string) => `Bearer ${key}, Bearer ${key}`, ''],
  ])('are refused with 401: %s', async (_name, header, detail) => {
    const answer = await new HttpClient(api.baseUrl, { authorization: header((await newKey(api)).key) }).get('/v1/key');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="reseller", error="invalid_token"');
    expect(problemOf(answer)).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(answer.textAt('detail')).toContain(detail);
  });

  it('store the time of their last use at most once a minute', async () => {
    const { id, client } = await newKey(api);
    const lastUse = async () =>
      (await api.database.run((db) => db.select().from(apiKeys).where(eq(apiKeys.id, id))))[0]?.lastUsedAt?.getTime();
    await client.get('/v1/orders');
    await waitFor('the first use is noted', async () => (await lastUse()) === TEST_NOW);
    api.clock.now = TEST_NOW + 60_000;
    await client.get('/v1/orders');
    expect(await lastUse()).toBe(TEST_NOW);
    api.clock.now = TEST_NOW + 60_001;
    await client.get('/v1/orders');
    await waitFor('the later use is noted', async () => (await lastUse()) === TEST_NOW + 60_001);
  });
});
