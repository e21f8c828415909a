import { type Environment, readDatabaseConfig } from '#config/config.ts';
import { price } from '#config/fields.ts';
import { generateApiKey } from '#crypto/api-key.ts';
import { addApiKey, API_SCOPES, type ApiScope, apiScopes, changeSpendLimit, listApiKeys, revokeApiKey } from '#db/api-keys.ts';
import type { Money } from '#domain/money.ts';
import type { Database } from '#db/database.ts';
import { withDatabase } from '#cli/command-database.ts';
import { UserError } from '#cli/user-error.ts';

const DAY_MS = 86_400_000;

/** Stands for every scope there is. */
const ALL = 'all';

/**
 * `reseller keys create`: the key goes to standard output alone, what is said of it to standard error.
 *
 * @param options.scopes `all`, or names with commas between them.
 * @param options.expires days.
 * @throws UserError when it is not said what the key is for or may do.
 */
export async function createKey(
  name: string,
  options: { scopes?: string; expires?: number; spendLimit?: string },
  environment: Environment,
): Promise<void> {
  if (name.trim() === '') {
    throw new UserError('The key has no name.', 'Name the system that is to use it: it is all that `keys list` shows of its purpose.');
  }
  const scopes = scopesOf(options.scopes);
  const spendLimit = options.spendLimit === undefined ? undefined : limitOf(options.spendLimit);
  const { key, prefix, hash } = generateApiKey();
  const expiresAt = options.expires === undefined ? undefined : new Date(Date.now() + options.expires * DAY_MS);
  await inDatabase(environment, (database) =>
    database.run((db) => addApiKey(db, { name, prefix, hash, scopes, ...(expiresAt !== undefined && { expiresAt }), ...(spendLimit != null && { spendLimit }) })),
  );
  process.stderr.write(`Key ${prefix} for ${name}, shown this once; scopes: ${scopes.join(', ')}\n`);
  process.stdout.write(`${key}\n`);
}

/** `reseller keys list`. */
export async function listKeys(environment: Environment): Promise<void> {
  const keys = await inDatabase(environment, (database) => database.run(listApiKeys));
  for (const key of keys) {
    const state =
      key.revokedAt !== null
        ? `revoked ${key.revokedAt.toISOString()}`
        : key.expiresAt !== null
          ? `expires ${key.expiresAt.toISOString()}`
          : 'valid';
    const used = key.lastUsedAt === null ? 'never used' : `last used ${key.lastUsedAt.toISOString()}`;
    const { spendLimitAmount: amount, spendLimitCurrency: currency } = key;
    const limit = amount === null || currency === null ? '' : `, at most ${amount.replace(/(\.\d{2}\d*?)0+$/, '$1')} ${currency} a day`;
    process.stdout.write(`${key.prefix}  ${key.name}  ${state}, ${used}${limit}  ${key.scopes.join(',')}\n`);
  }
}

/** `reseller keys limit`. @param limit `100.00 USD`, or `none`. @throws UserError when there is no such key. */
export async function limitKey(prefix: string, limit: string, environment: Environment): Promise<void> {
  const spendLimit = limitOf(limit);
  const changed = await inDatabase(environment, (database) => database.run((db) => changeSpendLimit(db, prefix, spendLimit)));
  if (!changed) {
    throw new UserError(`There is no key with the prefix ${JSON.stringify(prefix)}.`, '`npx reseller keys list` shows the prefixes.');
  }
  process.stdout.write(
    spendLimit === null ? `Key ${prefix} has no daily limit of its own.\n` : `Key ${prefix} may spend ${limit} a day (UTC).\n`,
  );
}

/** @returns null for `none`. */
function limitOf(text: string): Money | null {
  if (text === 'none') return null;
  const parsed = price().safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UserError(`${JSON.stringify(text)} is no daily limit.`, 'Write it like "100.00 USD", or none.');
}

/** `reseller keys revoke`. @throws UserError when there is no such key. */
export async function revokeKey(prefix: string, environment: Environment): Promise<void> {
  const revoked = await inDatabase(environment, (database) =>
    database.run((db) => revokeApiKey(db, prefix, new Date())),
  );
  if (!revoked) {
    throw new UserError(
      `There is no valid key with the prefix ${JSON.stringify(prefix)}.`,
      '`npx reseller keys list` shows the prefixes.',
    );
  }
  process.stdout.write(`Key ${prefix} is revoked.\n`);
}

function scopesOf(list: string | undefined): readonly ApiScope[] {
  const names = list?.split(',').map((name) => name.trim()).filter((name) => name !== '') ?? [];
  if (names.length === 0) {
    throw new UserError(
      'It is not said what the key may do.',
      `Add --scopes with what its user needs, commas between: ${apiScopes.join(', ')}; or --scopes ${ALL}.`,
    );
  }
  if (names.length === 1 && names[0] === ALL) return apiScopes;
  const unknown = names.filter((name) => !Object.hasOwn(API_SCOPES, name));
  if (unknown.length > 0) {
    throw new UserError(`Unknown scopes: ${unknown.join(', ')}.`, `There are: ${apiScopes.join(', ')}; or ${ALL} alone.`);
  }
  return names as ApiScope[];
}

async function inDatabase<Result>(environment: Environment, work: (database: Database) => Promise<Result>): Promise<Result> {
  return await withDatabase(readDatabaseConfig(environment).database.url, 'reseller keys', work);
}
