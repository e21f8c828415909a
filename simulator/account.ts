import { createHash, timingSafeEqual } from 'node:crypto';
import type * as z from 'zod';
import { isoTime, type Clock } from '#simulator/clock.ts';
import type { Environment } from '#simulator/environment.ts';
import { ServiceError } from '#simulator/service/errors.ts';
import type { Tokens } from '#simulator/store/tokens.ts';
import type { loginRequest, LoginResponse } from '#upstream/contract.ts';

const DAY_MS = 86_400_000;
/** The specification does not state a default. */
const DEFAULT_TOKEN_DAYS = 30;

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The reseller account and its access tokens. */
export class Account {
  readonly #credentials: Credentials;
  readonly #tokens: Tokens;
  readonly #clock: Clock;

  constructor(credentials: Credentials, tokens: Tokens, clock: Clock) {
    this.#credentials = credentials;
    this.#tokens = tokens;
    this.#clock = clock;
  }

  /** @throws ServiceError 401 when the e-mail address or the password is wrong; the message does not say which. */
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

  /** @param header value of the Authorization header. @throws ServiceError 401 when it has no valid token. */
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
