import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type * as z from 'zod';
import { DAY_MS, isoTime } from '#simulator/clock.ts';
import { ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Environment } from '#simulator/store/store.ts';
import type { loginRequest, LoginResponse } from '#upstream/contract.ts';

/** The specification does not state a default. */
const DEFAULT_TOKEN_DAYS = 30;

/**
 * Only the hash of a token is stored, and a token is valid in one environment only.
 * @throws ServiceError 401; the message does not say whether the address or the password is wrong.
 */
export function logIn(
  { store, clock, options }: Simulation,
  environment: Environment,
  request: z.output<typeof loginRequest>,
): LoginResponse {
  const emailFits = sameText(request.email.toLowerCase(), options.email.toLowerCase());
  const passwordFits = sameText(request.password, options.password);
  if (!emailFits || !passwordFits) throw unauthenticated('The e-mail address or the password is wrong.');
  const token = `${environment === 'sandbox' ? 'sbx' : 'prd'}_${randomBytes(24).toString('base64url')}`;
  const created_at = clock.now();
  const expires_at = created_at + (request.expires_in_days ?? DEFAULT_TOKEN_DAYS) * DAY_MS;
  const { device_name } = request;
  store.insert('tokens', { hash: hashOf(token).toString('hex'), environment, device_name, created_at, expires_at });
  return { access_token: token, token_type: 'Bearer', expires_at: isoTime(expires_at) };
}

/** @throws ServiceError 401 */
export function requireToken({ store, clock }: Simulation, environment: Environment, header: string | undefined): void {
  if (header === undefined) throw unauthenticated('An Authorization header with a Bearer token is required.');
  const token = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1];
  const found = token && store.get('tokens', { hash: hashOf(token).toString('hex'), environment });
  if (!found || found.expires_at <= clock.now()) {
    throw unauthenticated('The token is unknown in this environment, or has expired.');
  }
}

function unauthenticated(message: string): ServiceError {
  return new ServiceError(401, 'unauthenticated', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

function sameText(left: string, right: string): boolean {
  return timingSafeEqual(hashOf(left), hashOf(right));
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
