import { backoffMs } from '#domain/policy/settings.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { Caller } from '#upstream/client/call.ts';
import { failed, type ServiceFailure } from '#upstream/client/error-mapping.ts';
import type { LoginRequest, LoginResponse } from '#upstream/contract.ts';
import type { ServiceOptions } from '#upstream/service.ts';

export interface SharedToken {
  readonly accessToken: string;
  readonly version: number;
  /** Epoch milliseconds; undefined when the service named no expiry. */
  readonly expiresAt: number | undefined;
  /** Epoch milliseconds. */
  readonly renewedAt: number;
}

export interface TokenStore {
  read(): Promise<{ readonly version: number; readonly token: SharedToken | undefined } | undefined>;
  /** @returns undefined when another process replaced `replacedVersion` first. */
  replace(replacedVersion: number | undefined, token: Omit<SharedToken, 'version'>): Promise<number | undefined>;
}

/** A failure is always definite: without a token nothing is sent. */
export type TokenResult = { readonly ok: true; readonly token: SharedToken } | ServiceFailure;

type SessionOptions = Pick<
  ServiceOptions,
  'email' | 'password' | 'deviceName' | 'tokenDays' | 'mode' | 'tokens' | 'now' | 'onStoreError'
>;

// A share fits tokens of an hour and of a year. The rest covers a login outage and clock differences.
const RENEW_AT_SHARE = 0.8;
// Less than half of the deadline of a send: the call can still be made after a login.
const LOGIN_DEADLINE_MS = 8_000;
// Wrong credentials do not become valid within seconds, and many attempts may lock the account.
const REFUSED_PAUSE_MS = 30_000;
const FAILED_PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 300_000;

/** When two processes log in at the same time, compare-and-set decides, and the loser uses the winner's token. */
export class ServiceSession {
  readonly #call: Caller;
  readonly #options: SessionOptions;
  #cached: SharedToken | undefined;
  #renewal: Promise<TokenResult> | undefined;
  #pause: { readonly until: number; readonly failure: ServiceFailure } | undefined;
  #failedLogins = 0;

  constructor(call: Caller, options: SessionOptions) {
    this.#call = call;
    this.#options = options;
  }

  async token(deadlineMs: number): Promise<TokenResult> {
    const cached = this.#cached;
    if (cached === undefined || this.#hasEnded(cached)) {
      return await this.#within(deadlineMs, this.#renew(cached?.version));
    }
    // In the background: while the old token works, a slow or failing login must not delay calls.
    if (this.#isDue(cached) && this.#paused() === undefined) void this.#renew(cached.version);
    return { ok: true, token: cached };
  }

  /** Logs in only if no other call or process has done so since the refusal. */
  async renewAfter401(refusedVersion: number, deadlineMs: number): Promise<TokenResult> {
    const cached = this.#cached;
    if (cached !== undefined && this.#isUsable(cached, refusedVersion)) return { ok: true, token: cached };
    return await this.#within(deadlineMs, this.#renew(refusedVersion));
  }

  /** The service also refused the token of a new login. Further logins pause for a while. */
  refusedAfterRenewal(version: number): void {
    if (this.#cached?.version !== version) return;
    const detail = 'The service refuses the token of a fresh login.';
    this.#pauseLogins(REFUSED_PAUSE_MS, failed('unauthorized', detail, { status: 401 }));
  }

  async settled(): Promise<void> {
    await this.#renewal;
  }

  #renew(stale: number | undefined): Promise<TokenResult> {
    this.#renewal ??= this.#renewOnce(stale).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renewOnce(stale: number | undefined): Promise<TokenResult> {
    try {
      const stored = await this.#options.tokens.read();
      if (stored?.token !== undefined && this.#isUsable(stored.token, stale)) return this.#adopt(stored.token);
      return this.#paused() ?? (await this.#logIn(stored?.version, stale));
    } catch (error) {
      this.#options.onStoreError?.(error);
      return failed('not_sent', 'The shared access token could not be read or stored, so nothing was sent.');
    }
  }

  async #logIn(replacedVersion: number | undefined, stale: number | undefined): Promise<TokenResult> {
    const answer = await this.#call('login', { body: this.#loginBody(), deadlineMs: LOGIN_DEADLINE_MS });
    if (!answer.ok) return this.#loginFailed(answer);
    this.#failedLogins = 0;
    this.#pause = undefined;

    const { tokens, now } = this.#options;
    const fresh = tokenOf(answer.value, now());
    const version = await tokens.replace(replacedVersion, fresh);
    if (version !== undefined) return this.#adopt({ ...fresh, version });
    const winner = await tokens.read();
    if (winner?.token !== undefined && this.#isUsable(winner.token, stale)) return this.#adopt(winner.token);
    return failed(
      'not_sent',
      'Another process replaced the access token with one that cannot be used, so nothing was sent.',
    );
  }

  #loginBody(): Buffer {
    const { email, password, deviceName, mode, tokenDays } = this.#options;
    const body: LoginRequest = {
      email,
      password,
      device_name: deviceName,
      // Only the production login accepts it (specification, Login request).
      ...(mode === 'production' && tokenDays !== undefined ? { expires_in_days: tokenDays } : {}),
    };
    return Buffer.from(JSON.stringify(body), 'utf8');
  }

  #loginFailed({ failure, detail, status, code, retryAfterMs }: ServiceFailure): ServiceFailure {
    this.#failedLogins += 1;
    const isRefused = REFUSES_CREDENTIALS.has(failure);
    const isKept = failure === 'not_approved' || failure === 'rate_limited';
    const firstPause = isRefused || failure === 'not_approved' ? REFUSED_PAUSE_MS : FAILED_PAUSE_MS;
    const pause = retryAfterMs ?? backoffMs(firstPause, PAUSE_MAX_MS, this.#failedLogins);
    const meaning = isRefused ? 'unauthorized' : isKept ? failure : 'not_sent';
    return this.#pauseLogins(
      pause,
      failed(meaning, `The login failed, so nothing was sent. ${detail}`, {
        ...(status === undefined ? {} : { status }),
        // Any other code would be read as an answer to the call that needed the token.
        ...(code === 'not_approved' && { code }),
      }),
    );
  }

  #pauseLogins(pauseMs: number, cause: ServiceFailure): ServiceFailure {
    const until = this.#options.now() + Math.min(pauseMs, PAUSE_MAX_MS);
    this.#pause = { until, failure: cause };
    return { ...cause, retryAfterMs: Math.min(pauseMs, PAUSE_MAX_MS) };
  }

  #paused(): ServiceFailure | undefined {
    const rest = (this.#pause?.until ?? 0) - this.#options.now();
    return this.#pause === undefined || rest <= 0 ? undefined : { ...this.#pause.failure, retryAfterMs: rest };
  }

  #adopt(token: SharedToken): TokenResult {
    this.#cached = token;
    return { ok: true, token };
  }

  #isUsable(token: SharedToken, stale: number | undefined): boolean {
    return token.version !== stale && !this.#hasEnded(token);
  }

  #hasEnded(token: SharedToken): boolean {
    return token.expiresAt !== undefined && token.expiresAt <= this.#options.now();
  }

  #isDue(token: SharedToken): boolean {
    if (token.expiresAt === undefined) return false;
    return this.#options.now() >= token.renewedAt + (token.expiresAt - token.renewedAt) * RENEW_AT_SHARE;
  }

  /** The login continues for the other callers. */
  async #within(deadlineMs: number, renewal: Promise<TokenResult>): Promise<TokenResult> {
    const { promise: passed, resolve: pass } = Promise.withResolvers<TokenResult>();
    const timer = setTimeout(() => {
      pass(failed('not_sent', 'No access token was available within the deadline, so nothing was sent.'));
    }, deadlineMs);
    try {
      return await Promise.race([renewal, passed]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * Services answer wrong credentials with 401, 400 or 422. All other failures mean that nothing was sent: none ends the
 * work, because a purchase must not fail for good because of a login.
 */
const REFUSES_CREDENTIALS: ReadonlySet<FailureClass> = new Set<FailureClass>([
  'unauthorized',
  'invalid_request',
  'insufficient_balance',
  'package_unavailable',
  'cancellation_refused',
]);

function tokenOf(answer: LoginResponse, now: number): Omit<SharedToken, 'version'> {
  const named = Date.parse(answer.expires_at ?? '');
  // An expiry in the past would cause a login before every call. It is ignored; a 401 shows the real one.
  return { accessToken: answer.access_token, expiresAt: named > now ? named : undefined, renewedAt: now };
}
