import { matchesApiKey, parseApiKey } from '#crypto/api-key.ts';
import { findApiKey, isUseDue, noteApiKeyUse, type ApiKeyRow, type ApiScope } from '#db/api-keys.ts';
import type { Database } from '#db/database.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Caller } from '#api/operation.ts';
import { Problem } from '#api/problem.ts';

const BEARER = /^Bearer +([^\s]+) *$/i;
const REALM = 'Bearer realm="reseller"';

export interface AuthenticationDependencies {
  readonly database: Database;
  readonly logger: Logger;
  readonly now: () => number;
}

/**
 * Checks who calls and whether they may. The key is read from the database each time, so that a revocation counts at
 * once.
 *
 * @param authorization the Authorization header.
 * @throws Problem unauthenticated, missing_scope
 */
export async function authenticate(
  { database, logger, now }: AuthenticationDependencies,
  authorization: string | undefined,
  scope: ApiScope,
): Promise<Caller> {
  if (authorization === undefined) {
    throw new Problem('unauthenticated', {
      detail: 'The Authorization header is missing.',
      headers: { 'WWW-Authenticate': REALM },
    });
  }
  const presented = BEARER.exec(authorization)?.[1];
  const prefix = presented === undefined ? undefined : parseApiKey(presented)?.prefix;
  if (presented === undefined || prefix === undefined) throw refused();

  const key = await database.run((db) => findApiKey(db, prefix));
  const at = new Date(now());
  if (key === undefined || !matchesApiKey(presented, key.hash) || !isAlive(key, at)) throw refused();
  if (!key.scopes.includes(scope)) throw lacking(scope);
  if (isUseDue(key, at)) {
    // The caller does not wait for it, and a failure to note it is no reason to refuse.
    database
      .run((db) => noteApiKeyUse(db, key.id, at))
      .catch((error: unknown) => logger.warn({ err: error, caller: key.id }, 'the use of an API key could not be noted'));
  }
  return { apiKeyId: key.id, lineageId: key.id, ownerId: undefined };
}

function isAlive(key: ApiKeyRow, at: Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > at);
}

/** One answer for unknown, revoked and expired: it tells a stranger nothing about which keys exist. */
function refused(): Problem {
  return new Problem('unauthenticated', {
    detail: 'The API key is not valid: unknown, revoked or expired.',
    headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token"` },
  });
}

function lacking(scope: ApiScope): Problem {
  return new Problem('missing_scope', {
    detail: `This needs the scope ${scope}.`,
    headers: { 'WWW-Authenticate': `${REALM}, error="insufficient_scope", scope="${scope}"` },
    extra: { missing_scope: scope },
  });
}
