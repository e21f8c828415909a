import { describe, expect, it } from 'vitest';
import type { Operation } from '#api/http/operation.ts';
import { bodyExampleOf } from '#api/openapi/examples.ts';
import { generateApiKey } from '#crypto/generated-secrets.ts';
import { apiScopes, revokeApiKey } from '#db/access/api-keys.ts';
import { callOperation } from '#test/support/api/call-operation.ts';
import { newKey } from '#test/support/api/keys.ts';
import { guarded } from '#test/support/api/operations-without-id.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';

const api = disposedAtEnd(await startTestApi());

/** Calls without a key. All others need one. */
const PUBLIC = new Set([
  '/webhooks/service',
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/docs',
  '/docs/reference',
  '/docs/guides/{name}',
  '/docs/assets/{name}',
  '/problems/{name}',
  '/e/{secret}',
  '/robots.txt',
]);

const call = (client: HttpClient, operation: Operation) =>
  callOperation(client, operation, operation.method === 'post' ? { body: bodyExampleOf(operation) ?? {} } : {});

describe('every call of the API', () => {
  it('needs a key, except the public ones', () => {
    const open = api.operations.filter(({ scope }) => scope === undefined).map(({ path }) => path);
    expect(open.filter((path) => !PUBLIC.has(path))).toEqual([]);
    // Allowed for every key, with any scopes.
    expect(api.operations.filter(({ scope }) => scope === 'none').map(({ id }) => id)).toEqual(['getOwnKey']);
  });

  it('gives one answer to a missing, unknown, revoked, expired and wrong key', async () => {
    const revoked = await newKey(api);
    await api.database.run((db) => revokeApiKey(db, revoked.prefix, new Date(TEST_NOW)));
    const expired = await newKey(api, { expiresAt: new Date(TEST_NOW) });
    const valid = await newKey(api);
    const clientOf = (key: string) => new HttpClient(api.baseUrl, { authorization: `Bearer ${key}` });
    const unknown = clientOf(generateApiKey().key);
    const altered = clientOf(`${valid.key.slice(0, -1)}${valid.key.endsWith('0') ? '1' : '0'}`);
    const answers = new Set<string>();
    for (const operation of guarded(api)) {
      expect([operation.id, (await call(new HttpClient(api.baseUrl), operation)).status]).toEqual([operation.id, 401]);
      for (const client of [revoked.client, expired.client, unknown, altered]) {
        const answer = await call(client, operation);
        expect([operation.id, answer.status]).toEqual([operation.id, 401]);
        answers.add(JSON.stringify({ ...(answer.body as object), request_id: '' }));
      }
      expect([operation.id, (await call(valid.client, operation)).status]).not.toEqual([operation.id, 401]);
    }
    expect(answers.size).toBe(1);
  });

  it('is refused without its scope, which the answer names, and allowed with that scope alone', async () => {
    for (const scope of apiScopes) {
      const operations = api.operations.filter((operation) => operation.scope === scope);
      expect([scope, operations.length > 0]).toEqual([scope, true]);
      const { client: without } = await newKey(api, { scopes: apiScopes.filter((each) => each !== scope) });
      const { client: only } = await newKey(api, { scopes: [scope] });
      for (const operation of operations) {
        const refused = await call(without, operation);
        expect([operation.id, refused.status, refused.at('missing_scope')]).toEqual([operation.id, 403, scope]);
        expect([operation.id, (await call(only, operation)).status]).not.toEqual([operation.id, 403]);
      }
    }
  });

  it('never redirects, and never returns an address from the Host header', async () => {
    const { client } = await newKey(api);
    for (const operation of api.operations) {
      const answer = await call(client, operation);
      expect([operation.id, answer.status >= 300 && answer.status < 400]).toEqual([operation.id, false]);
      expect([operation.id, /^(\/v1\/|$)/.test(answer.headers.get('location') ?? '')]).toEqual([operation.id, true]);
    }
    const made = await client
      .with({ 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'gopher', 'Idempotency-Key': 'host' })
      .post('/v1/orders', { package_id: 101, external_order_id: 'host' });
    expect([made.status, made.headers.get('location')?.startsWith('/v1/orders/ord_')]).toEqual([202, true]);
    expect(`${made.text}${JSON.stringify([...made.headers])}`).not.toContain('evil.example');
  });
});
