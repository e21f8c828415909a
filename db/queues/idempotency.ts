/** The answer is stored in the transaction that does the work, so neither exists without the other. */
import { and, eq, inArray, lt, not, sql } from 'drizzle-orm';
import type { KeyRing } from '#crypto/key-ring.ts';
import { builtOnce } from '#db/connection/built-once.ts';
import type { Executor } from '#db/connection/database.ts';
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

const answerOf = builtOnce((db) =>
  db
    .select()
    .from(idempotencyKeys)
    .where(
      and(eq(idempotencyKeys.apiKeyId, sql.placeholder('apiKeyId')), eq(idempotencyKeys.key, sql.placeholder('key'))),
    )
    .prepare('idempotent_answer'),
);

export async function findAnswer(
  db: Executor,
  keyRing: KeyRing,
  id: IdempotencyKey,
  requestHash: Buffer,
): Promise<IdempotencyFinding> {
  const [row] = await answerOf(db, { ...id });
  return row === undefined ? { kind: 'unused' } : findingOf(keyRing, id, requestHash, row);
}

function findingOf(
  keyRing: KeyRing,
  id: IdempotencyKey,
  requestHash: Buffer,
  row: typeof idempotencyKeys.$inferSelect,
): IdempotencyFinding {
  if (!row.requestHash.equals(requestHash)) return { kind: 'other_request' };
  const body = keyRing.decrypt(row.encryptedResponseBody, bodyAad(id));
  return { kind: 'answered', answer: { status: row.responseStatus, headers: row.responseHeaders, body } };
}

const lockedAnswer = builtOnce((db) =>
  db
    .select({
      isLocked: sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${sql.placeholder('name')}, 0))`,
      row: idempotencyKeys,
    })
    .from(sql`(select 1) as once`)
    .leftJoin(
      idempotencyKeys,
      and(eq(idempotencyKeys.apiKeyId, sql.placeholder('apiKeyId')), eq(idempotencyKeys.key, sql.placeholder('key'))),
    )
    .prepare('idempotent_answer_locked'),
);

/**
 * Locks until the transaction ends; a dead process releases it. It sees what was committed before this statement, not
 * before its lock: it may miss a request that ended just now. Then {@link storeAnswer} fails, and the caller looks
 * again.
 * @param requestHash keyed.
 */
export async function lockAndFindAnswer(
  tx: Executor,
  keyRing: KeyRing,
  id: IdempotencyKey,
  requestHash: Buffer,
): Promise<IdempotencyFinding | { readonly kind: 'in_progress' }> {
  const [found] = await lockedAnswer(tx, { ...id, name: `idempotency/${id.apiKeyId}/${id.key}` });
  if (found?.row != null) return findingOf(keyRing, id, requestHash, found.row);
  return { kind: found?.isLocked === true ? 'unused' : 'in_progress' };
}

const insertAnswer = builtOnce((db) =>
  db
    .insert(idempotencyKeys)
    .values({
      apiKeyId: sql.placeholder('apiKeyId'),
      key: sql.placeholder('key'),
      requestHash: sql.placeholder('requestHash'),
      responseStatus: sql.placeholder('responseStatus'),
      responseHeaders: sql.placeholder('responseHeaders'),
      encryptedResponseBody: sql.placeholder('encryptedResponseBody'),
      keptForGood: sql.placeholder('keptForGood'),
      createdAt: sql.placeholder('createdAt'),
    })
    .prepare('idempotent_answer_stored'),
);

/** @param request.isKeptForGood its result has no unique reference of its own. */
export async function storeAnswer(
  tx: Executor,
  keyRing: KeyRing,
  id: IdempotencyKey,
  { requestHash, isKeptForGood }: { readonly requestHash: Buffer; readonly isKeptForGood: boolean },
  answer: StoredAnswer,
  now: Date,
): Promise<void> {
  await insertAnswer(tx, {
    apiKeyId: id.apiKeyId,
    key: id.key,
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
