/** The answer is stored in the transaction that does the work, so neither exists without the other. */
import { and, eq, inArray, lt, not, sql } from 'drizzle-orm';
import type { KeyRing } from '#crypto/key-ring.ts';
import { type Executor, sendTogether } from '#db/connection/database.ts';
import { insertRow } from '#db/connection/prepared-statements.ts';
import { idempotencyKeys } from '#db/schema.ts';

export interface IdempotencyKey {
  readonly apiKeyId: string;
  readonly key: string;
}

/** Repeated byte for byte. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type IdempotencyFinding =
  | { readonly kind: 'unused' }
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
  | { readonly kind: 'other_request' };

export async function findAnswer(
  db: Executor,
  keyRing: KeyRing,
  id: IdempotencyKey,
  requestHash: Buffer,
): Promise<IdempotencyFinding> {
  const [row] = await db
    .select()
    .from(idempotencyKeys)
    .where(and(eq(idempotencyKeys.apiKeyId, id.apiKeyId), eq(idempotencyKeys.key, id.key)));
  if (row === undefined) return { kind: 'unused' };
  if (!row.requestHash.equals(requestHash)) return { kind: 'other_request' };
  const body = keyRing.decrypt(row.encryptedResponseBody, bodyAad(id));
  return { kind: 'answered', answer: { status: row.responseStatus, headers: row.responseHeaders, body } };
}

/** Locks until the transaction ends; a dead process releases it. @param requestHash keyed. */
export async function lockAndFindAnswer(
  tx: Executor,
  keyRing: KeyRing,
  id: IdempotencyKey,
  requestHash: Buffer,
): Promise<IdempotencyFinding | { readonly kind: 'in_progress' }> {
  const name = `idempotency/${id.apiKeyId}/${id.key}`;
  const [{ rows }, found] = await sendTogether([
    () => tx.execute<{ mine: boolean }>(sql`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as mine`),
    // A statement of its own: it sees what the former holder of the lock has committed.
    () => findAnswer(tx, keyRing, id, requestHash),
  ]);
  return found.kind === 'unused' && rows[0]?.mine !== true ? { kind: 'in_progress' } : found;
}

/** @param request.isKeptForGood its result has no unique reference of its own. */
export async function storeAnswer(
  tx: Executor,
  keyRing: KeyRing,
  id: IdempotencyKey,
  { requestHash, isKeptForGood }: { readonly requestHash: Buffer; readonly isKeptForGood: boolean },
  answer: StoredAnswer,
  now: Date,
): Promise<void> {
  await insertRow(tx, idempotencyKeys, {
    ...id,
    requestHash,
    responseStatus: answer.status,
    responseHeaders: { ...answer.headers },
    encryptedResponseBody: keyRing.encrypt(answer.body, bodyAad(id)),
    keptForGood: isKeptForGood,
    createdAt: now,
  });
}

/**
 * Keeps answers without a unique reference: a repetition would spend again. @returns fewer than `batch`: none are left.
 */
export async function forgetAnswers(db: Executor, options: { before: Date; batch: number }): Promise<number> {
  const old = db
    .select({ apiKeyId: idempotencyKeys.apiKeyId, key: idempotencyKeys.key })
    .from(idempotencyKeys)
    .where(and(not(idempotencyKeys.keptForGood), lt(idempotencyKeys.createdAt, options.before)))
    .orderBy(idempotencyKeys.createdAt)
    .limit(options.batch);
  const rows = await db
    .delete(idempotencyKeys)
    .where(inArray(sql`(${idempotencyKeys.apiKeyId}, ${idempotencyKeys.key})`, old))
    .returning({ key: idempotencyKeys.key });
  return rows.length;
}

function bodyAad({ apiKeyId, key }: IdempotencyKey): string {
  return `idempotency_keys.encrypted_response_body/${apiKeyId}/${key}`;
}
