import { failure, type Finding, notChecked, ok } from '#cli/doctor/finding.ts';
import type { EncryptionKey } from '#config/config.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import type { Database } from '#db/connection/database.ts';
import { EncryptionKeysError, keyUse, verifyKeys } from '#db/connection/encryption-keys.ts';
import { describeKeyProblem } from '#domain/encryption-keys.ts';

/** Checks that these are the keys that the database was used with. Writes nothing. */
export async function checkEncryptionKeys(
  database: Database,
  keys: readonly EncryptionKey[] | undefined,
): Promise<Finding> {
  if (keys === undefined) return notChecked('ENCRYPTION_KEYS cannot be used');
  const ring = new KeyRing(keys);
  try {
    await database.run((db) => verifyKeys(db, ring));
  } catch (error) {
    if (!(error instanceof EncryptionKeysError)) throw error;
    const described = error.problems.map(describeKeyProblem);
    const joined = (texts: readonly string[]) => [...new Set(texts)].join(' ');
    return failure(joined(described.map(({ what }) => what)), joined(described.map(({ advice }) => advice)));
  }
  const recorded = (await database.run(keyUse)).length;
  if (recorded === 0) return ok('none used yet; the first start of the API or the worker records them');
  return ok(
    recorded === 1 ? 'the key that the database was used with' : `the ${recorded} keys that the database was used with`,
  );
}
