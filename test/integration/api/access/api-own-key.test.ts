/** The description of a caller's own key. */
import { describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { attempts, gateReservations } from '#db/schema.ts';
import { newKey, successorOf } from '#test/support/api/keys.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';

const api = disposedAtEnd(
  await startTestApi({ rateLimits: { perMinute: 600, failuresPerMinute: 30, sharePagesPerMinute: 60 } }),
);
const eur = (amount: string) => ({ amount, currency: 'EUR' });

/** Spends an amount on a day, by the work of a key. */
async function spent(apiKeyId: string, amount: string, day = '2030-01-31'): Promise<void> {
  const attemptId = newId('attempt');
  const attempt = { id: attemptId, number: 1, idempotencyKey: attemptId, encryptedRequestBody: Buffer.alloc(1) };
  const subject = { subjectKind: 'order', subjectId: newId('order'), state: 'completed' } as const;
  const reserved = { attemptId, apiKeyId, day, ...eur(amount), madeAt: new Date(TEST_NOW) };
  await api.database.transaction(async (tx) => {
    await tx.insert(attempts).values({ ...attempt, ...subject });
    await tx.insert(gateReservations).values(reserved);
  });
}

describe('GET /v1/key', () => {
  it('requires no scope, and shows the permissions and limits of the key', async () => {
    const { id, prefix, client, key } = await newKey(api, {
      name: 'shop',
      scopes: ['orders:write', 'orders:read'],
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
    const other = await newKey(api, { rateLimit: 60, scopes: [] });
    expect((await other.client.get('/v1/key')).body).toMatchObject({ requests_per_minute: 60, scopes: [] });
  });

  it('shows the remaining daily limit, never below zero, without other days and other keys', async () => {
    const { id, client } = await newKey(api, { spendLimit: eur('50') });
    const spend = async () => (await client.get('/v1/key')).at('spend');
    expect(await spend()).toEqual({ day: '2030-01-31', limit: eur('50.00'), spent: eur('0.00'), left: eur('50.00') });
    await spent(id, '12.5');
    await spent(id, '30', '2030-01-30');
    await spent('key_other', '30');
    expect(await spend()).toMatchObject({ spent: eur('12.50'), left: eur('37.50') });
    await spent(id, '40');
    expect(await spend()).toMatchObject({ spent: eur('52.50'), left: eur('0.00') });
  });

  it('of a successor names the first key, whose limit it shares', async () => {
    const { id, prefix } = await newKey(api, { spendLimit: eur('50') });
    await spent(id, '20');
    const next = await successorOf(api, prefix, 0);
    expect((await next.client.get('/v1/key')).body).toMatchObject({
      id: next.id,
      created_by: id,
      spend: { spent: eur('20.00') },
    });
  });
});
