import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { type Clock, isoTime } from '#simulator/clock.ts';
import { ServiceError } from '#simulator/service/errors.ts';
import type { Environment, Store } from '#simulator/store/store.ts';
import type { loginRequest, LoginResponse } from '#upstream/contract.ts';

const DAY_MS = 86_400_000;
/** The specification does not state a default. */
const DEFAULT_TOKEN_DAYS = 30;

interface Credentials {
  readonly email: string;
  readonly password: string;
}

export class Account {
  readonly #credentials: Credentials;
  readonly #tokens: Tokens;
  readonly #clock: Clock;

  constructor(credentials: Credentials, tokens: Tokens, clock: Clock) {
    this.#credentials = credentials;
    this.#tokens = tokens;
    this.#clock = clock;
  }

  /** @throws ServiceError 401; the message does not say whether the address or the password is wrong. */
  logIn(environment: Environment, request: z.output<typeof loginRequest>): LoginResponse {
    const emailFits = sameText(request.email.toLowerCase(), this.#credentials.email.toLowerCase());
    const passwordFits = sameText(request.password, this.#credentials.password);
    if (!emailFits || !passwordFits) throw unauthenticated('The e-mail address or the password is wrong.');
    const now = this.#clock.now();
    const expiresAt = now + (request.expires_in_days ?? DEFAULT_TOKEN_DAYS) * DAY_MS;
    return {
      access_token: this.#tokens.issue(environment, request.device_name, now, expiresAt),
      token_type: 'Bearer',
      expires_at: isoTime(expiresAt),
    };
  }

  /** @throws ServiceError 401 */
  requireToken(environment: Environment, header: string | undefined): void {
    if (header === undefined) throw unauthenticated('An Authorization header with a Bearer token is required.');
    const token = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1];
    if (token === undefined || !this.#tokens.isValid(environment, token, this.#clock.now())) {
      throw unauthenticated('The token is unknown in this environment, or has expired.');
    }
  }
}

function unauthenticated(message: string): ServiceError {
  return new ServiceError(401, 'unauthenticated', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

function sameText(left: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}

/** Only hashes are stored. A token is valid in one environment only. */
export class Tokens {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The token cannot be read again later. */
  issue(environment: Environment, deviceName: string, createdAt: number, expiresAt: number): string {
    const token = `${environment === 'sandbox' ? 'sbx' : 'prd'}_${randomBytes(24).toString('base64url')}`;
    this.#store.run(
      `INSERT INTO tokens (hash, environment, device_name, created_at, expires_at)
       VALUES (:hash, :environment, :deviceName, :createdAt, :expiresAt)`,
      { hash: hashOf(token), environment, deviceName, createdAt, expiresAt },
    );
    return token;
  }

  isValid(environment: Environment, token: string, now: number): boolean {
    const sql = 'SELECT expires_at FROM tokens WHERE hash = :hash AND environment = :environment';
    const found = this.#store.get(tokenRow, sql, { hash: hashOf(token), environment });
    return found !== undefined && found.expiresAt > now;
  }

  revokeAll(environment: Environment): number {
    return this.#store.run('DELETE FROM tokens WHERE environment = :environment', { environment });
  }
}

const tokenRow = z.object({ expiresAt: z.number() });

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
