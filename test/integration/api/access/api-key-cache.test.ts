import { afterAll, describe, expect, it } from 'vitest';
import { generateApiKey } from '#crypto/generated-secrets.ts';
import {
  addApiKey,
  apiScopes,
  changeRateLimit,
  changeSpendLimit,
  revokeApiKey,
  rotateApiKey,
} from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { statementsOf } from '#test/support/servers/statements.ts';
import { waitFor } from '#test/support/wait-for.ts';

const api = await startTestApi();
afterAll(() => api[Symbol.asyncDispose]());

/** A key that this process has in its memory. */
async function usedKey() {
  const { key, prefix, hash } = generateApiKey();
  await api.database.run((db) => addApiKey(db, { name: 'test', prefix, hash, scopes: apiScopes, rateLimit: 60_000 }));
  const client = new HttpClient(api.baseUrl, { authorization: `Bearer ${key}` });
  const call = () => client.get('/v1/orders');
  expect((await call()).status).toBe(200);
  return { prefix, call };
}

describe('a change of a key that is in the memory of a process', () => {
  const now = new Date(TEST_NOW);
  it.each<[string, (tx: Executor, prefix: string) => Promise<unknown>, [number, string | null]]>([
    ['its revocation', (tx, prefix) => revokeApiKey(tx, prefix, now), [401, null]],
    [
      'its rotation without an overlap',
      (tx, prefix) => {
        const { prefix: successor, hash } = generateApiKey();
        return rotateApiKey(tx, prefix, { prefix: successor, hash }, { overlapMs: 0, now });
      },
      [401, null],
    ],
    ['its rate limit', (tx, prefix) => changeRateLimit(tx, prefix, 120), [200, '"key";q=20;w=10']],
  ])('is effective at once, by a notification: %s', async (_name, change, effect) => {
    const { prefix, call } = await usedKey();
    await api.database.transaction((tx) => change(tx, prefix));
    // The clock of the API stands still, so no reading grows old.
    const changed = await waitFor('the change is effective', async () => {
      const { status, headers } = await call();
      const found = [status, headers.get('ratelimit-policy')];
      return found[0] === effect[0] && found[1] === effect[1] && found;
    });
    expect(changed).toEqual(effect);
  });

  it('is notified in its own transaction, whatever was changed', async () => {
    const { prefix } = await usedKey();
    const statements = await statementsOf(() =>
      api.database.transaction((tx) => changeSpendLimit(tx, prefix, { amount: '5', currency: 'EUR' })),
    );
    expect(statements.slice(-2)).toEqual(['notify api_keys', 'COMMIT']);
  });
});
