import { asc, eq, is, sql } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import * as schema from '#db/schema.ts';
import { describeKeyProblem, judgeKeys, type KeyProblem } from '#domain/encryption-keys.ts';

const { encryptionKeys } = schema;

export class EncryptionKeysError extends Error {
  readonly problems: readonly KeyProblem[];

  constructor(problems: readonly KeyProblem[]) {
    super(
      problems
        .map(describeKeyProblem)
        .map(({ what, advice }) => `${what} ${advice}`)
        .join('\n'),
    );
    this.name = 'EncryptionKeysError';
    this.problems = problems;
  }
}

export async function keyUse(db: Executor) {
  const { keyId, makesHashes, firstUsedAt } = encryptionKeys;
  return db.select({ keyId, makesHashes, firstUsedAt }).from(encryptionKeys).orderBy(asc(firstUsedAt), asc(keyId));
}

/** Writes nothing. @throws EncryptionKeysError */
export async function verifyKeys(db: Executor, ring: KeyRing): Promise<void> {
  const rows = await db
    .select()
    .from(encryptionKeys)
    .orderBy(asc(encryptionKeys.firstUsedAt), asc(encryptionKeys.keyId));
  const recorded = rows.map(({ keyId, checkValue, makesHashes }) => ({
    keyId,
    makesHashes,
    sameBytes: ring.checkValueOf(keyId)?.equals(checkValue),
  }));
  const problems = judgeKeys(recorded, ring.keyIds);
  if (problems.length > 0) throw new EncryptionKeysError(problems);
}

/** Stores new keys. Runs before anything is encrypted. @throws EncryptionKeysError; nothing is stored then. */
export async function registerKeys(database: Database, ring: KeyRing): Promise<void> {
  await database.transaction(async (tx) => {
    // Serialises concurrent first uses.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('encryption_keys', 0))`);
    await verifyKeys(tx, ring);
    const known = new Set((await keyUse(tx)).map(({ keyId }) => keyId));
    const hashKey = known.size === 0 ? ring.keyIds.at(-1) : undefined;
    const added = ring.keyIds.flatMap((keyId) => {
      const checkValue = known.has(keyId) ? undefined : ring.checkValueOf(keyId);
      return checkValue === undefined ? [] : [{ keyId, checkValue, makesHashes: keyId === hashKey }];
    });
    if (added.length > 0) await tx.insert(encryptionKeys).values(added);
  });
}

interface EncryptedValues {
  readonly table: string;
  readonly column: string;
}

export type Retirement =
  | { readonly kind: 'retired' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'makes_hashes' }
  | { readonly kind: 'in_use'; readonly values: readonly EncryptedValues[] };

/** Refused while a stored value is encrypted with it, and for the hash key. Payloads in Temporal are not counted. */
export async function retireKey(tx: Executor, keyId: string): Promise<Retirement> {
  const [row] = await tx.select().from(encryptionKeys).where(eq(encryptionKeys.keyId, keyId)).for('update');
  if (row === undefined) return { kind: 'unknown' };
  if (row.makesHashes) return { kind: 'makes_hashes' };
  const values = await valuesEncryptedWith(tx, keyId);
  if (values.length > 0) return { kind: 'in_use', values };
  await tx.delete(encryptionKeys).where(eq(encryptionKeys.keyId, keyId));
  return { kind: 'retired' };
}

async function valuesEncryptedWith(db: Executor, keyId: string): Promise<EncryptedValues[]> {
  const found: EncryptedValues[] = [];
  for (const { table, column } of encryptedColumns()) {
    const name = sql.identifier(column);
    // An encrypted value begins with its format, the length of the key's id, and the id.
    const { rows } = await db.execute(sql`
      select from ${sql.identifier(table)}
      where octet_length(${name}) > 2 and substring(${name} from 3 for get_byte(${name}, 1)) = convert_to(${keyId},
        'UTF8') limit 1`);
    if (rows.length > 0) found.push({ table, column });
  }
  return found;
}

function encryptedColumns(): { readonly table: string; readonly column: string }[] {
  return Object.values(schema).flatMap((table) => {
    if (!is(table, PgTable)) return [];
    const { name, columns } = getTableConfig(table);
    const encrypted = columns.filter((column) => column.name.startsWith('encrypted_'));
    return encrypted.map((column) => ({ table: name, column: column.name }));
  });
}
