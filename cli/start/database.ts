import { existsSync } from 'node:fs';
import { addKey } from '#cli/access/keys.ts';
import { devApiKeyFile, readDevApiKey, writeSecretFile } from '#cli/data-folder/development-secrets.ts';
import { migrateOrExplain } from '#cli/set-up/command-database.ts';
import type { Plan } from '#cli/start/plan.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { readApiConfig } from '#config/config.ts';
import { matchesApiKey, parseApiKey } from '#crypto/generated-secrets.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { apiScopes, findApiKey } from '#db/access/api-keys.ts';
import { Database, type Executor, sqlState } from '#db/connection/database.ts';
import { verifyKeys } from '#db/connection/encryption-keys.ts';
import { OtherInstallationError, verifyStamp } from '#db/connection/installation.ts';
import { countApplied, UnreleasedSchemaError } from '#db/connection/migrate.ts';
import { Store, StoreError } from '#simulator/store/store.ts';

const UNDEFINED_TABLE = '42P01';

/** Checked first: without a usable simulator the migrated database would be of no use. */
export function requireUsableSimulatorData({ settings, environments }: Plan): void {
  const file = environments.simulator['SIMULATOR_DATA'] ?? '';
  if (settings.serviceBaseUrl !== undefined || !existsSync(file)) return;
  try {
    new Store(file).close();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new UserError(
      `${error.message} Nothing was changed.`,
      `Start the version of the product that made ${settings.dataDirectory}, or name another folder with --data.`,
      { cause: error },
    );
  }
}

/**
 * @returns an API key only with our own simulator: only the operator creates keys that spend real money.
 * @throws UserError for a database of another service or an older version; EncryptionKeysError.
 */
export async function prepareDatabase(
  plan: Plan,
  migrating: (work: () => Promise<void>) => Promise<void>,
): Promise<string | undefined> {
  const { settings, databaseUrl } = plan;
  const database = new Database({
    url: databaseUrl,
    poolSize: 1,
    applicationName: 'reseller start',
    onConnectionError: () => undefined,
  });
  try {
    await database.run((db) => requireOwnDatabase(db, plan));
    await migrating(() => migrateOrExplain(databaseUrl));
    if (settings.serviceBaseUrl !== undefined) return undefined;
    return await developmentApiKey(settings.dataDirectory, database);
  } finally {
    await database.close();
  }
}

async function requireOwnDatabase(db: Executor, { settings, environments }: Plan): Promise<void> {
  const { service, encryptionKeys } = readApiConfig(environments.api);
  try {
    await countApplied(db);
    await verifyStamp(db, { serviceBaseUrl: service.baseUrl, serviceMode: service.mode });
    await verifyKeys(db, new KeyRing(encryptionKeys));
  } catch (error) {
    if (sqlState(error) === UNDEFINED_TABLE) return;
    if (error instanceof UnreleasedSchemaError && settings.databaseUrl === undefined) {
      throw new UserError(
        `The data in ${settings.dataDirectory} are of a version from before the first release, and no migration ` +
          'leads from their schema to the present one. Nothing was changed.',
        'Start the version that made the folder, or name another one with --data.',
        { cause: error },
      );
    }
    if (!(error instanceof OtherInstallationError) || settings.serviceBaseUrl !== undefined) throw error;
    const { hostname, port } = new URL(error.stamped.serviceBaseUrl);
    const isSimulator = hostname === '127.0.0.1' && error.stamped.serviceMode === service.mode;
    throw new UserError(
      `The data in ${settings.dataDirectory} belong to the service at ${error.stamped.serviceBaseUrl} ` +
        `(${error.stamped.serviceMode}), and this start would use the simulator at ${service.baseUrl} ` +
        `(${service.mode}).`,
      isSimulator
        ? `Start with --simulator-port ${port}, or name another folder with --data.`
        : 'Set SERVICE_BASE_URL and SERVICE_MODE to that service, or name another folder with --data.',
      { cause: error },
    );
  }
}

/** A new key replaces one that is missing or not valid. */
async function developmentApiKey(dataDirectory: string, database: Database): Promise<string> {
  const kept = readDevApiKey(dataDirectory);
  if (kept !== undefined && (await isValid(kept, database))) return kept;
  const named = { name: 'development', scopes: apiScopes };
  const { key } = await database.transaction((tx) => addKey(tx, named, 'development'));
  writeSecretFile(devApiKeyFile(dataDirectory), `${key}\n`);
  return key;
}

async function isValid(key: string, database: Database): Promise<boolean> {
  const parsed = parseApiKey(key);
  if (parsed === undefined) return false;
  const row = await database.run((db) => findApiKey(db, parsed.prefix));
  return (
    row !== undefined &&
    row.revokedAt === null &&
    matchesApiKey(key, row.hash) &&
    // A later version may have added scopes.
    apiScopes.every((scope) => row.scopes.includes(scope))
  );
}
