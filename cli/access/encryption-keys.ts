import { actor, inDatabase } from '#cli/set-up/command-database.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import { keyUse, retireKey, type Retirement } from '#db/connection/encryption-keys.ts';

/** Shown in `pg_stat_activity`. */
const APPLICATION = 'reseller encryption-keys';

/** The keys themselves are not in the database. */
export async function listEncryptionKeys(environment: Environment): Promise<void> {
  const keys = await inDatabase(environment, APPLICATION, (database) => database.run(keyUse));
  if (keys.length === 0) process.stdout.write('The database has not been used with any encryption key yet.\n');
  for (const { keyId, makesHashes, firstUsedAt } of keys) {
    const use = makesHashes ? '; used for keyed hashes, must stay the last key' : '';
    process.stdout.write(`${keyId}  first used ${firstUsedAt.toISOString()}${use}\n`);
  }
}

/** @throws UserError when the key is unknown, makes the hashes, or a stored value is encrypted with it. */
export async function retireEncryptionKey(keyId: string, environment: Environment): Promise<void> {
  const retirement = await inDatabase(environment, APPLICATION, (database) =>
    database.transaction(async (tx) => {
      const done = await retireKey(tx, keyId);
      if (done.kind === 'retired') {
        const subject = { kind: 'encryption_key', id: keyId } as const;
        await addAuditEntry(tx, { actor: actor(), action: 'encryption_key.retire', subject }, new Date());
      }
      return done;
    }),
  );
  if (retirement.kind !== 'retired') throw refusal(keyId, retirement);
  process.stdout.write(`${keyId} is retired. Remove it from ENCRYPTION_KEYS of all processes, and restart them.\n`);
}

function refusal(keyId: string, retirement: Exclude<Retirement, { kind: 'retired' }>): UserError {
  switch (retirement.kind) {
    case 'unknown':
      return new UserError(
        `The database was never used with a key ${keyId}.`,
        'See `npx reseller encryption-keys list`.',
      );
    case 'makes_hashes':
      return new UserError(
        `${keyId} is used for the keyed hashes of requests and webhooks, so it cannot be retired.`,
        'Keep it as the last key in ENCRYPTION_KEYS.',
      );
    case 'in_use': {
      const places = retirement.values.map(({ table, column }) => `${table}.${column}`).join(', ');
      return new UserError(
        `Stored values are encrypted with ${keyId}: ${places}.`,
        'Keep it in ENCRYPTION_KEYS, after the first key.',
      );
    }
  }
}
