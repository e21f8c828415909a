/** The description of a caller's own key. */
import { describe, expect, it } from 'vitest';
import { generateApiKey } from '#crypto/generated-secrets.ts';
import { addApiKey, rotateApiKey, type NewApiKey } from '#db/access/api-keys.ts';
import { newId } from '#db/connection/ids.ts';
import { attempts, gateReservations } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';

const api = disposedAtEnd(
  await startTestApi({ rateLimits: { perMinute: 600, failuresPerMinute: 30, sharePagesPerMinute: 60 } }),
);

async function keyWith(limits: Partial<NewApiKey>) {
  const { key, prefix, hash } = generateApiKey();
  const id = await api.database.run((db) =>
    addApiKey(db, { name: 'shop', prefix, hash, scopes: ['orders:write', 'orders:read'], ...limits }),
  );
  return { id, prefix, key, client: clientOf(key) };
}

const clientOf = (key: string) => new HttpClient(api.baseUrl, { authorization: `Bearer ${key}` });

/** Spends an amount on a day, by the work of a key. */
async function spent(apiKeyId: string, amount: string, day = '2030-01-31'): Promise<void> {
  const attemptId = newId('attempt');
  await api.database.transaction(async (tx) => {
    await tx.insert(attempts).values({
      id: attemptId,
      subjectKind: 'order',
      subjectId: newId('order'),
      number: 1,
      idempotencyKey: attemptId,
      encryptedRequestBody: Buffer.alloc(1),
      state: 'completed',
    });
    await tx
      .insert(gateReservations)
      .values({ attemptId, apiKeyId, day, amount, currency: 'EUR', madeAt: new Date(TEST_NOW) });
  });
}

describe('GET /v1/key', () => {
  it('requires no scope, and shows the permissions and limits of the key', async () => {
    const { id, prefix, client, key } = await keyWith({
      expiresAt: new Date(TEST_NOW + 86_400_000),
      ownWorkOnly: true,
    });
    const answer = await client.get('/v1/key');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      id,
      name: 'shop',
      prefix,
      scopes: ['orders:read', 'orders:write'],
      own_work_only: true,
      created_by: id,
      expires_at: '2030-02-01T12:00:00.000Z',
      requests_per_minute: 600,
      spend: null,
    });
    expect(answer.text).not.toContain(key.slice(-20));
    expect((await (await keyWith({ rateLimit: 60 })).client.get('/v1/key')).at('requests_per_minute')).toBe(60);
    expect((await (await keyWith({ scopes: [] })).client.get('/v1/key')).at('scopes')).toEqual([]);
    expect((await new HttpClient(api.baseUrl).get('/v1/key')).status).toBe(401);
  });

  it('shows the remaining daily limit, never below zero, without other days and other keys', async () => {
    const { id, client } = await keyWith({ spendLimit: { amount: '50', currency: 'EUR' } });
    const spend = async () => (await client.get('/v1/key')).at('spend');
    const eur = (amount: string) => ({ amount, currency: 'EUR' });
    expect(await spend()).toEqual({ day: '2030-01-31', limit: eur('50.00'), spent: eur('0.00'), left: eur('50.00') });
    await spent(id, '12.5');
    await spent(id, '30', '2030-01-30');
    await spent('key_other', '30');
    expect(await spend()).toMatchObject({ spent: eur('12.50'), left: eur('37.50') });
    await spent(id, '40');
    expect(await spend()).toMatchObject({ spent: eur('52.50'), left: eur('0.00') });
  });

  it('of a successor names the first key, whose limit it shares', async () => {
    const { id, prefix } = await keyWith({ spendLimit: { amount: '50', currency: 'EUR' } });
    await spent(id, '20');
    const next = generateApiKey();
    const rotated = await api.database.transaction((tx) =>
      rotateApiKey(tx, prefix, next, { overlapMs: 0, now: new Date(TEST_NOW) }),
    );
    if (!rotated.ok) throw new Error('it was not rotated');
    const answer = await clientOf(next.key).get('/v1/key');
    expect([answer.at('id'), answer.at('created_by')]).toEqual([rotated.id, id]);
    expect(answer.at('spend', 'spent', 'amount')).toBe('20.00');
  });
});
