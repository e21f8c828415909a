import { eq } from 'drizzle-orm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateApiKey } from '#crypto/generated-secrets.ts';
import { changeRateLimit, changeSpendLimit, revokeApiKey, rotateApiKey } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { apiKeys, attempts, gateReservations, orders } from '#db/schema.ts';
import { auditOf } from '#test/integration/api/support.ts';
import { newKey, postOnce, successorOf } from '#test/support/api/keys.ts';
import { problemOf } from '#test/support/api/order-calls.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { statementsOf } from '#test/support/servers/statements.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

const api = disposedAtEnd(
  await startTestApi({ rateLimits: { perMinute: 600, failuresPerMinute: 1_000_000, sharePagesPerMinute: 1_000_000 } }),
);
const now = new Date(TEST_NOW);
const HOUR = 3_600_000;
const eur = (amount: string) => ({ amount, currency: 'EUR' });

it('the revocation of a key in the memory of a process is effective at once, by a notification', async () => {
  const { prefix, client } = await newKey(api);
  expect((await client.get('/v1/orders')).status).toBe(200);
  await api.database.transaction((tx) => revokeApiKey(tx, prefix, now));
  // The clock of the API stands still, so no reading grows old.
  await waitFor('it is refused', async () => (await client.get('/v1/orders')).status === 401);
});

it.each<[string, (tx: Executor, prefix: string) => Promise<unknown>]>([
  ['revocation', (tx, prefix) => revokeApiKey(tx, prefix, now)],
  ['rotation', (tx, prefix) => rotateApiKey(tx, prefix, generateApiKey(), { overlapMs: 0, now })],
  ['rate limit', (tx, prefix) => changeRateLimit(tx, prefix, 120)],
  ['spend limit', (tx, prefix) => changeSpendLimit(tx, prefix, eur('5'))],
])('a change of a key is notified in its own transaction: its %s', async (_name, change) => {
  const { prefix } = await newKey(api);
  const statements = await statementsOf(() => api.database.transaction((tx) => change(tx, prefix)));
  expect(statements.slice(-2)).toEqual(['notify api_keys', 'COMMIT']);
});

it('a successor key continues the work of the former key, and the audit log distinguishes the two', async () => {
  const { id, prefix, client: former } = await newKey(api, { ownWorkOnly: true });
  const made = await makeOwnWork(api, former);
  const { client: successor, id: successorId } = await successorOf(api, prefix, HOUR);
  expect((await successor.get(`/v1/orders/${made.ids.order}`)).status).toBe(200);
  expect((await successor.get(`/v1/esims/${made.ids.esim}/activation`)).status).toBe(200);
  const later = await makeOwnWork(api, successor);
  const stored = await api.database.run((db) => db.select().from(orders).where(eq(orders.id, later.ids.order)));
  // The gate finds the spend limit of the key and its successors by this id.
  expect(stored[0]?.apiKeyId).toBe(id);
  // As with webhook endpoints: the id of the first key, for both callers.
  for (const by of [former, successor])
    expect((await by.get(`/v1/orders/${later.ids.order}`)).at('created_by')).toBe(id);
  expect((await auditOf(api, made.ids.esim)).map(({ actor }) => actor)).toEqual([successorId]);
});

it('a retry after the rotation gets the first answer again, and creates nothing', async () => {
  const { prefix, client } = await newKey(api, { ownWorkOnly: true });
  const body = { package_id: 101, external_order_id: 'over-the-rotation' };
  const first = await postOnce(client, '/v1/orders', body, 'once');
  const again = await postOnce((await successorOf(api, prefix, HOUR)).client, '/v1/orders', body, 'once');
  expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([202, first.text, 'true']);
});

/** Spends an amount on a day, by the work of a key. */
async function spent(apiKeyId: string, amount: string, day = '2030-01-31'): Promise<void> {
  const attemptId = newId('attempt');
  const attempt = { id: attemptId, number: 1, idempotencyKey: attemptId, encryptedRequestBody: Buffer.alloc(1) };
  const subject = { subjectKind: 'order', subjectId: newId('order'), state: 'completed' } as const;
  await api.database.transaction(async (tx) => {
    await tx.insert(attempts).values({ ...attempt, ...subject });
    await tx.insert(gateReservations).values({ attemptId, apiKeyId, day, ...eur(amount), madeAt: now });
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
    const shown = { id: next.id, created_by: id, spend: { spent: eur('20.00') } };
    expect((await next.client.get('/v1/key')).body).toMatchObject(shown);
  });
});

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
    onTestFinished(() => void (api.clock.now = TEST_NOW));
    api.clock.now = TEST_NOW + 60_000;
    await client.get('/v1/orders');
    expect(await lastUse()).toBe(TEST_NOW);
    api.clock.now = TEST_NOW + 60_001;
    await client.get('/v1/orders');
    await waitFor('the later use is noted', async () => (await lastUse()) === TEST_NOW + 60_001);
  });
});
