/** API keys as the commands make them, and requests with them. */
import { randomUUID } from 'node:crypto';
import { generateApiKey, type ApiKeyMode } from '#crypto/generated-secrets.ts';
import { addApiKey, apiScopes, rotateApiKey, type NewApiKey } from '#db/access/api-keys.ts';
import type { Database } from '#db/connection/database.ts';
import type { TestApi } from '#test/support/network/api.ts';
import { HttpClient, type HttpAnswer } from '#test/support/network/http.ts';

const clientOf = ({ baseUrl }: Pick<TestApi, 'baseUrl'>, key: string) =>
  new HttpClient(baseUrl, { authorization: `Bearer ${key}` });

/** Stores a key. It has every scope unless others are given. */
export async function storeKey(database: Database, more: Partial<NewApiKey> = {}, mode?: ApiKeyMode) {
  const { key, prefix, hash } = generateApiKey(mode);
  const id = await database.run((db) => addApiKey(db, { name: 'test', prefix, hash, scopes: apiScopes, ...more }));
  return { id, key, prefix };
}

/** {@link storeKey}, with a client that has it. */
export async function newKey(api: Pick<TestApi, 'baseUrl' | 'database'>, more?: Partial<NewApiKey>) {
  const stored = await storeKey(api.database, more);
  return { ...stored, client: clientOf(api, stored.key) };
}

/** Makes the successor of a key. */
export async function successorOf(api: TestApi, prefix: string, overlapMs: number) {
  const { key, prefix: successor, hash } = generateApiKey();
  const rotated = await api.database.transaction((tx) =>
    rotateApiKey(tx, prefix, { prefix: successor, hash }, { overlapMs, now: new Date(api.clock.now) }),
  );
  if (!rotated.ok) throw new Error(JSON.stringify(rotated.refusal));
  return { id: rotated.id, key, client: clientOf(api, key) };
}

/** A POST with an Idempotency-Key, which is a new one unless it is given. */
export const postOnce = (
  by: HttpClient,
  path: string,
  body?: unknown,
  key: string = randomUUID(),
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> => by.post(path, body, { headers: { 'Idempotency-Key': key, ...headers } });
