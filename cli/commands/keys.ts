import { type Environment, readDatabaseConfig } from '#config/config.ts';
import { generateApiKey } from '#crypto/api-key.ts';
import { addApiKey, API_SCOPES, type ApiScope, apiScopes, listApiKeys, revokeApiKey } from '#db/api-keys.ts';
import { Database } from '#db/database.ts';
import { UserError } from '#cli/user-error.ts';

const DAY_MS = 86_400_000;

/** `reseller keys create`: the key goes to standard output alone, what is said of it to standard error. */
export async function createKey(
  name: string,
  options: { scopes?: string; expires?: number },
  environment: Environment,
): Promise<void> {
  const scopes = options.scopes === undefined ? apiScopes : scopesOf(options.scopes);
  const { key, prefix, hash } = generateApiKey();
  const expiresAt = options.expires === undefined ? undefined : new Date(Date.now() + options.expires * DAY_MS);
  await withDatabase(environment, (database) =>
    database.run((db) => addApiKey(db, { name, prefix, hash, scopes, ...(expiresAt === undefined ? {} : { expiresAt }) })),
  );
  process.stderr.write(`Key ${prefix} for ${name}, shown this once; scopes: ${scopes.join(', ')}\n`);
  process.stdout.write(`${key}\n`);
}

/** `reseller keys list`. */
export async function listKeys(environment: Environment): Promise<void> {
  const keys = await withDatabase(environment, (database) => database.run(listApiKeys));
  for (const key of keys) {
    const state =
      key.revokedAt !== null
        ? `revoked ${key.revokedAt.toISOString()}`
        : key.expiresAt !== null
          ? `expires ${key.expiresAt.toISOString()}`
          : 'valid';
    const used = key.lastUsedAt === null ? 'never used' : `last used ${key.lastUsedAt.toISOString()}`;
    process.stdout.write(`${key.prefix}  ${key.name}  ${state}, ${used}  ${key.scopes.join(',')}\n`);
  }
}

/** `reseller keys revoke`. @throws UserError when there is no such key. */
export async function revokeKey(prefix: string, environment: Environment): Promise<void> {
  const revoked = await withDatabase(environment, (database) =>
    database.run((db) => revokeApiKey(db, prefix, new Date())),
  );
  if (!revoked) {
    throw new UserError(
      `There is no valid key with the prefix ${JSON.stringify(prefix)}.`,
      '`reseller keys list` shows the prefixes.',
    );
  }
  process.stdout.write(`Key ${prefix} is revoked.\n`);
}

function scopesOf(list: string): ApiScope[] {
  const names = list.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !Object.hasOwn(API_SCOPES, name));
  if (unknown.length > 0) {
    throw new UserError(`Unknown scopes: ${unknown.join(', ')}.`, `There are: ${apiScopes.join(', ')}.`);
  }
  return names as ApiScope[];
}

async function withDatabase<Result>(environment: Environment, work: (database: Database) => Promise<Result>): Promise<Result> {
  const { database: config } = readDatabaseConfig(environment);
  const database = new Database({
    url: config.url,
    poolSize: 1,
    applicationName: 'reseller keys',
    onConnectionError: () => undefined,
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
