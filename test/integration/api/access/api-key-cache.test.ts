import { expect, it } from 'vitest';
import { generateApiKey } from '#crypto/generated-secrets.ts';
import { changeRateLimit, changeSpendLimit, revokeApiKey, rotateApiKey } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { newKey } from '#test/support/api/keys.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { statementsOf } from '#test/support/servers/statements.ts';
import { waitFor } from '#test/support/wait-for.ts';

const api = disposedAtEnd(await startTestApi());
const now = new Date(TEST_NOW);

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
  ['spend limit', (tx, prefix) => changeSpendLimit(tx, prefix, { amount: '5', currency: 'EUR' })],
])('a change of a key is notified in its own transaction: its %s', async (_name, change) => {
  const { prefix } = await newKey(api);
  const statements = await statementsOf(() => api.database.transaction((tx) => change(tx, prefix)));
  expect(statements.slice(-2)).toEqual(['notify api_keys', 'COMMIT']);
});
