import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import type { Caller, CallerRequest } from '#api/http/operation.ts';
import type { Reply } from '#api/http/reply.ts';
import { databaseUnavailable } from '#api/problems/error-handler.ts';
import { Problem } from '#api/problems/problem.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import { type Database, DatabaseUnavailableError, type Executor } from '#db/connection/database.ts';
import {
  findAnswer,
  type IdempotencyFinding,
  type IdempotencyKey,
  lockAndFindAnswer,
  storeAnswer,
} from '#db/queues/idempotency.ts';

/** The first request ends within the timeouts of a transaction, usually within milliseconds. */
const IN_PROGRESS_RETRY_SECONDS = 1;

type IdempotencyDependencies = Pick<ApiDependencies, 'database' | 'keyRing' | 'now'>;

/** A retry after the API key was rotated is still a retry. */
type IdempotentRequest = Pick<CallerRequest, 'header' | 'target' | 'json'> & {
  readonly caller: Pick<Caller, 'lineageId'>;
};

/**
 * Runs `work` once for each Idempotency-Key; every repetition gets the first answer, byte for byte. Work and answer are
 * committed together. A refused request stores nothing: its key may be sent again with a corrected request.
 * @param work runs in a transaction, possibly several times; an error rolls it back.
 * @param isKeptForGood true when only this key prevents a second execution: then it is stored permanently.
 * @throws Problem idempotency_key_missing, idempotency_key_invalid, idempotency_in_progress, idempotency_key_reused,
 *   database_unavailable, and the errors of `work`.
 */
export async function answerOnce(
  dependencies: IdempotencyDependencies,
  request: IdempotentRequest,
  work: (tx: Executor) => Promise<Reply>,
  isKeptForGood = false,
): Promise<Reply> {
  const { database, keyRing, now } = dependencies;
  const { id, requestHash, lookUp } = keyOf(keyRing, request);
  try {
    return await database.transaction(async (tx) => {
      const found = await lockAndFindAnswer(tx, keyRing, id, requestHash);
      if (found.kind === 'in_progress')
        throw new Problem('idempotency_in_progress', { headers: { 'Retry-After': String(IN_PROGRESS_RETRY_SECONDS) } });
      const before = answerOf(found);
      if (before !== undefined) return asReplay(before);
      const reply = await work(tx);
      await storeAnswer(tx, keyRing, id, { requestHash, isKeptForGood }, reply, new Date(now()));
      return reply;
    });
  } catch (error) {
    if (error instanceof DatabaseUnavailableError) return await resolveUnknownCommit(database, lookUp, error);
    // A request with this key may have ended while this one took its lock. Then its effect is why this one failed.
    const before = await database.run(lookUp);
    if (before === undefined) throw error;
    return asReplay(before);
  }
}

/**
 * @throws Problem idempotency_key_missing, idempotency_key_invalid, idempotency_key_reused, and
 *   DatabaseUnavailableError.
 */
export async function findReplay(
  { database, keyRing }: IdempotencyDependencies,
  request: IdempotentRequest,
): Promise<Reply | undefined> {
  const before = await database.run(keyOf(keyRing, request).lookUp);
  return before && asReplay(before);
}

/** @throws Problem idempotency_key_missing, idempotency_key_invalid */
function keyOf(keyRing: KeyRing, { caller, header, target, json }: IdempotentRequest) {
  const id: IdempotencyKey = { apiKeyId: caller.lineageId, key: readIdempotencyKey(header('Idempotency-Key')) };
  const requestHash = keyRing.hash(`${target}\n${canonicalJson(json)}`, 'idempotency');
  const lookUp = async (db: Executor) => answerOf(await findAnswer(db, keyRing, id, requestHash));
  return { id, requestHash, lookUp };
}

/** @throws Problem idempotency_key_reused */
function answerOf(found: IdempotencyFinding): Reply | undefined {
  if (found.kind === 'other_request') throw new Problem('idempotency_key_reused');
  return found.kind === 'answered' ? found.answer : undefined;
}

/**
 * The connection broke, perhaps during the commit. A stored answer proves the commit. Without one nothing is proved;
 * the caller may safely retry with the same key.
 */
async function resolveUnknownCommit(
  database: Database,
  lookUp: (db: Executor) => Promise<Reply | undefined>,
  cause: DatabaseUnavailableError,
): Promise<Reply> {
  const committed = await database.run(lookUp).catch((error: unknown) => {
    if (error instanceof DatabaseUnavailableError) return undefined;
    throw error;
  });
  if (committed === undefined) throw databaseUnavailable(cause);
  return committed;
}

/** A string of structured fields (RFC 9651): in quotes, which with the backslash are escaped inside. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255})"$/;
const BARE = /^[\x21\x23-\x7e][\x21-\x7e]{0,254}$/;

/**
 * The IETF draft requires a string in quotes, but most clients send it bare: `"k"` and `k` are the same key.
 * @throws Problem idempotency_key_missing, idempotency_key_invalid
 */
export function readIdempotencyKey(header: string | undefined): string {
  if (header === undefined || header === '') throw new Problem('idempotency_key_missing');
  if (BARE.test(header)) return header;
  const quoted = QUOTED.exec(header)?.[1];
  if (quoted === undefined) throw new Problem('idempotency_key_invalid');
  return quoted.replaceAll(/\\(["\\])/g, '$1');
}

function asReplay(reply: Reply): Reply {
  return { ...reply, headers: { ...reply.headers, 'Idempotent-Replayed': 'true' } };
}

const FORM =
  '1 to 255 visible ASCII characters, bare or as a string in double quotes (RFC 9651), which may also contain spaces.';

/** Length with every character escaped and two quotes. */
const MAX_LENGTH = 2 * 255 + 2;

function idempotencyKey(description: string) {
  return z.string().meta({
    description: `${description} ${FORM}`,
    // The forms of /docs show and send new keys.
    example: '4f5d2f0e-2a53-4c6f-9d0e-7a0f6a2a1c11',
    override: { pattern: `${BARE.source}|${QUOTED.source}`, minLength: 1, maxLength: MAX_LENGTH },
  });
}

export const idempotencyKeyHeader = z.strictObject({
  'Idempotency-Key': idempotencyKey('Unique for this operation, the same for each of its retries.').meta({
    param: { id: 'IdempotencyKey' },
  }),
});

/** Required unless the call is a dry run. */
export const bulkIdempotencyKeyHeader = z.strictObject({
  'Idempotency-Key': idempotencyKey(
    'Required unless `dry_run` is true; the same for each retry of the call.',
  ).optional(),
});

export const replayedHeader = {
  'Idempotent-Replayed': '`true` when an earlier request with the same key was accepted, and this repeats its answer.',
} as const;

/**
 * The same text for the same content, independent of field order and white space.
 * @param value JSON of bounded depth, from {@link readJsonBody}.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)));
  });
}
