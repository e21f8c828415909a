import type { ServiceMode } from '#domain/service/service-address.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { MemoryTokenStore } from '#test/support/memory-token-store.ts';
import type { Caller } from '#upstream/client/call.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';
import { ServiceSession, type TokenResult } from '#upstream/client/session.ts';
import type { LoginResponse } from '#upstream/contract.ts';

export const START = Date.UTC(2025, 0, 1);
/** The time that a caller has, in milliseconds. */
export const DEADLINE = 20_000;

export type LoginAnswer = ServiceResult<LoginResponse>;

/** A login endpoint with the answers of the test, one call at a time. */
class Login {
  readonly bodies: unknown[] = [];
  answer: () => LoginAnswer | Promise<LoginAnswer> = () => token(`token-${this.bodies.length}`);

  readonly call = (async (endpoint, { body }) => {
    if (endpoint !== 'login') throw new Error(`a session calls nothing but the login, and not ${endpoint}`);
    this.bodies.push(JSON.parse(String(body)));
    return await this.answer();
  }) as Caller;
}

export function token(accessToken: string, expiresAt?: number): LoginAnswer {
  const expires_at = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
  return { ok: true, status: 200, value: { access_token: accessToken, expires_at } };
}

export function refused(failure: FailureClass, more: Partial<ServiceFailure> = {}): ServiceFailure {
  return { ok: false, kind: 'failure', failure, detail: `The login gave ${failure}.`, ...more };
}

/** A clock, a login and a token store, with sessions that share them. */
export function world() {
  const clock = { now: START };
  const [login, store, storeErrors] = [new Login(), new MemoryTokenStore(), [] as unknown[]];
  return {
    clock,
    login,
    store,
    storeErrors,
    newSession: ({ mode = 'sandbox', tokenDays }: { mode?: ServiceMode; tokenDays?: number } = {}) =>
      new ServiceSession(login.call, {
        tokens: store,
        email: 'shop@example.com',
        password: 'secret',
        deviceName: 'backend',
        mode,
        tokenDays,
        now: () => clock.now,
        onStoreError: (error) => storeErrors.push(error),
      }),
  };
}

/** The token of a result, or the failure. */
export const accessTokenOf = (result: TokenResult) => (result.ok ? result.token.accessToken : result);
/** The version of a token; undefined after a failure. */
export const versionOf = (result: TokenResult) => (result.ok ? result.token.version : undefined);
