import { keyMode } from '#cli/access/key-mode.ts';
import { actor } from '#cli/api/account.ts';
import { devApiKeyFile, readDevApiKey } from '#cli/data-folder/dev-api-key-file.ts';
import { writeSecretFile } from '#cli/data-folder/secret-file.ts';
import { generateApiKey, matchesApiKey, parseApiKey } from '#crypto/generated-secrets.ts';
import { addApiKey, apiScopes, findApiKey } from '#db/access/api-keys.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Database } from '#db/connection/database.ts';

/**
 * The API key of a development set-up, with every scope: the one in `dev-api-key`, or a new one if that is missing or
 * not valid.
 */
export async function developmentApiKey(dataDirectory: string, database: Database): Promise<string> {
  const kept = readDevApiKey(dataDirectory);
  if (kept !== undefined && (await isValid(kept, database))) return kept;
  const { key } = await database.transaction(async (tx) => {
    const made = generateApiKey(await keyMode(tx, {}));
    const { prefix, hash } = made;
    const id = await addApiKey(tx, { name: 'development', prefix, hash, scopes: apiScopes });
    const audited = {
      actor: actor(),
      action: 'api_key.create',
      subject: { kind: 'api_key', id },
      reason: 'development',
    } as const;
    await addAuditEntry(tx, audited, new Date());
    return made;
  });
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
    // A later version may have added scopes that the key lacks.
    apiScopes.every((scope) => row.scopes.includes(scope))
  );
}
