import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { generateApiKey } from '#crypto/generated-secrets.ts';
import { addApiKey } from '#db/access/api-keys.ts';
import { apiKeys } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

const api = disposedAtEnd(await startTestApi());
const stranger = new HttpClient(api.baseUrl);

describe('API keys', () => {
  const addKey = async (more: { expiresAt?: Date } = {}) => {
    const { key, prefix, hash } = generateApiKey();
    const id = await api.database.run((db) =>
      addApiKey(db, { name: 'test', prefix, hash, scopes: ['orders:read'], ...more }),
    );
    return { id, key, prefix, client: stranger.with({ authorization: `Bearer ${key}` }) };
  };

  it.each([
    ['another scheme', (key: string) => `Basic ${key}`],
    ['no key', () => 'Bearer '],
    ['a key that is none', () => 'Bearer abc'],
    ['an unknown key', () => `Bearer ${generateApiKey().key}`],
    ['a known prefix with another secret', (key: string) => `Bearer ${key.slice(0, -4)}0000`],
    ['a key of production', (key: string) => `Bearer ${key.replace('_test_', '_live_')}`, 'made for production'],
    ['two keys', (key: string) => `Bearer ${key}, Bearer ${key}`],
  ])('are refused with 401: %s', async (_name, authorization, detail = '') => {
    const { key } = await addKey();
    const answer = await stranger.get('/v1/orders', { headers: { authorization: authorization(key) } });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="reseller", error="invalid_token"');
    expect(answer.read(problemSchema).code).toBe('unauthenticated');
    expect(answer.textAt('detail')).toContain(detail);
  });

  it('store the time of their last use at most once a minute', async () => {
    const { id, client } = await addKey();
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
    api.clock.now = TEST_NOW;
  });
});
