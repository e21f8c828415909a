import type { RateLimits } from '#api/access/limits.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import type { Caller, RequiredScope } from '#api/http/operation.ts';
import { Problem } from '#api/problems/problem.ts';
import { apiKeyMode, type ApiKeyMode, matchesApiKey, parseApiKey } from '#crypto/generated-secrets.ts';
import { type ApiKeyRow, isUseDue, lineageOf, noteApiKeyUse } from '#db/access/api-keys.ts';
import type { Wakeups } from '#db/connection/wakeups.ts';
import { KEY_AGE_MS } from '#domain/policy/api-policy.ts';
import { together } from '#telemetry/waiting.ts';

const BEARER = /^Bearer +([^\s]+) *$/i;
const REALM = 'Bearer realm="reseller"';

/** Decided by the form of a key alone, whether it exists or not. */
const OTHER_MODE: Readonly<Record<ApiKeyMode, string>> = {
  test:
    'A key that begins with `rsk_test_` was made for the sandbox, and this installation buys with real money. ' +
    'Make a key with `npx reseller keys create`.',
  live:
    'A key that begins with `rsk_live_` was made for production, and this installation uses the sandbox. ' +
    'Make a key with `npx reseller keys create`.',
};

export type AuthenticationDependencies = Pick<
  ApiDependencies,
  'database' | 'keys' | 'logger' | 'serviceMode' | 'now'
> & { readonly limits: RateLimits };

/** @throws Problem unauthenticated, rate_limited */
export async function authenticate(
  dependencies: AuthenticationDependencies,
  authorization: string | undefined,
  address: string,
): Promise<ApiKeyRow> {
  const { limits, logger } = dependencies;
  try {
    return await findValidKey(dependencies, authorization, address);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'unauthenticated') throw error;
    const { refusal, exhausted } = limits.noteFailure(address);
    if (exhausted) logger.warn({ address }, 'an address fails to authenticate too often: it is limited');
    throw refusal ?? error;
  }
}

/** @throws Problem missing_scope */
export function callerOf(key: ApiKeyRow, scope: RequiredScope): Caller {
  if (!allows(key, scope)) throw lacking(scope);
  const lineageId = lineageOf(key);
  return {
    apiKeyId: key.id,
    keyPrefix: key.prefix,
    lineageId,
    ownerId: key.ownWorkOnly ? lineageId : undefined,
    scopes: key.scopes,
  };
}

function allows(key: ApiKeyRow, scope: RequiredScope): boolean {
  return scope === 'none' || key.scopes.includes(scope);
}

type KeyReading = Pick<AuthenticationDependencies, 'keys' | 'now'>;

/** Checks a key again during a long call: whether it is still valid, has this scope, and sees the same work. */
export async function mayStill(
  { keys, now }: KeyReading,
  { keyPrefix, ownerId }: Caller,
  scope: RequiredScope,
): Promise<boolean> {
  const key = await keys.findAnew(keyPrefix);
  if (key === undefined || !isAlive(key, new Date(now()))) return false;
  return allows(key, scope) && callerOf(key, scope).ownerId === ownerId;
}

/** As {@link mayStill}. @throws Problem unauthenticated when it may not. */
export async function requireStill(dependencies: KeyReading, caller: Caller, scope: RequiredScope): Promise<void> {
  if (!(await mayStill(dependencies, caller, scope))) throw refused();
}

async function findValidKey(
  { database, keys, limits, logger, now, serviceMode }: AuthenticationDependencies,
  authorization: string | undefined,
  address: string,
): Promise<ApiKeyRow> {
  const text = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
  const parsed = text === undefined ? undefined : parseApiKey(text);
  const prefix = parsed?.prefix;
  limits.requireTrust(address, prefix);
  if (authorization === undefined) {
    throw new Problem('unauthenticated', {
      detail: 'The Authorization header is missing. Send `Authorization: Bearer <API key>`.',
      headers: { 'WWW-Authenticate': REALM },
    });
  }
  if (text === undefined || parsed === undefined || prefix === undefined) throw refused(malformed(authorization));
  if (parsed.mode !== apiKeyMode(serviceMode)) throw refused(OTHER_MODE[parsed.mode]);

  const key = await keys.find(prefix);
  const at = new Date(now());
  if (key === undefined || !matchesApiKey(text, key.hash) || !isAlive(key, at)) throw refused();
  limits.noteValid(prefix);
  if (isUseDue(key, at)) {
    // The row is shared by the requests that use this reading: only one of them records it.
    key.lastUsedAt = at;
    // Not awaited: the caller need not wait, and a failure must not refuse the request.
    database
      .run((db) => noteApiKeyUse(db, key.id, at))
      .catch((error: unknown) =>
        logger.warn({ err: error, caller: key.id }, 'the use of an API key could not be recorded'),
      );
  }
  return key;
}

function isAlive(key: ApiKeyRow, at: Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > at);
}

/** It never contains the header. */
function malformed(authorization: string): string {
  const send = 'Send `Authorization: Bearer <API key>`.';
  if (parseApiKey(authorization.trim()) !== undefined)
    return `The Authorization header contains an API key without the scheme Bearer. ${send}`;
  if (/^basic\b/i.test(authorization)) return `The Authorization header uses the scheme Basic. ${send}`;
  if (!/^bearer\b/i.test(authorization)) return `The Authorization header does not use the scheme Bearer. ${send}`;
  if (!BEARER.test(authorization)) return `The Authorization header does not contain exactly one API key. ${send}`;
  return (
    'The value in the Authorization header is no API key of this product: ' +
    'a key begins with `rsk_test_` or `rsk_live_` and has 61 characters.'
  );
}

/** Unknown, revoked and expired keys get the same answer: it must not reveal which keys exist. */
export function refused(detail = 'The API key is not valid: unknown, revoked or expired.'): Problem {
  return new Problem('unauthenticated', { detail, headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token"` } });
}

export function lacking(scope: RequiredScope, what = 'This'): Problem {
  return new Problem('missing_scope', {
    detail: `${what} needs the scope ${scope}.`,
    headers: { 'WWW-Authenticate': `${REALM}, error="insufficient_scope", scope="${scope}"` },
    extra: { missing_scope: scope },
  });
}

interface KeyCacheOptions {
  readonly read: (prefix: string) => Promise<ApiKeyRow | undefined>;
  readonly changes: Pick<Wakeups, 'listen' | 'next' | 'wake' | 'close'>;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

interface Reading {
  readonly key: Promise<ApiKeyRow | undefined>;
  /** When the read began: it may miss what changed later. */
  readonly at: number;
}

/** Reads a key again after a notification of changes, and after {@link KEY_AGE_MS}: a notification may be lost. */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #readings = new Map<string, Reading>();
  /** A new read, shared by all that ask in the same turn. */
  readonly findAnew: (prefix: string) => Promise<ApiKeyRow | undefined>;
  #following: Promise<void> | undefined;
  #closed = false;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
    this.findAnew = together(async (prefixes) => {
      const read = async (prefix: string) => [prefix, await options.read(prefix)] as const;
      const found = new Map(await Promise.all([...new Set(prefixes)].map(read)));
      return (prefix) => found.get(prefix);
    });
  }

  open(): void {
    this.#options.changes.listen();
    this.#following ??= this.#follow();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#options.changes.wake();
    await this.#following;
    await this.#options.changes.close();
  }

  async find(prefix: string): Promise<ApiKeyRow | undefined> {
    const at = this.#options.now();
    const known = this.#readings.get(prefix);
    if (known !== undefined && Math.abs(at - known.at) < KEY_AGE_MS) return known.key;
    const reading = { key: this.#options.read(prefix), at };
    this.#readings.set(prefix, reading);
    try {
      const key = await reading.key;
      // Callers can make up any number of prefixes, and a new key must work at once.
      if (key === undefined) this.#forget(prefix, reading);
      return key;
    } catch (error) {
      this.#forget(prefix, reading);
      throw error;
    }
  }

  #forget(prefix: string, reading: Reading): void {
    if (this.#readings.get(prefix) === reading) this.#readings.delete(prefix);
  }

  async #follow(): Promise<void> {
    while (!this.#closed) {
      // Needs no poll: the age of a reading is limited in any case.
      await this.#options.changes.next();
      // Reads under way may have begun before the change.
      this.#readings.clear();
    }
  }
}
