import { backoffMs } from '#domain/policy/backoff.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { Caller } from '#upstream/client/call.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';
import { systemTimers, type Timers } from '#upstream/client/http.ts';
import type { LoginRequest, LoginResponse } from '#upstream/contract.ts';

/** The access token that all processes share. */
export interface SharedToken {
  readonly accessToken: string;
  /** Differs after each renewal. */
  readonly version: number;
  /** Epoch milliseconds; undefined when the service named no end. */
  readonly expiresAt: number | undefined;
  /** Epoch milliseconds. */
  readonly renewedAt: number;
}

/** Where the token is shared; see `db/service/service-tokens.ts`. */
export interface TokenStore {
  read(): Promise<{ readonly version: number; readonly token: SharedToken | undefined } | undefined>;
  /** @returns the new version, or undefined when another process replaced `replacedVersion` first. */
  replace(replacedVersion: number | undefined, token: Omit<SharedToken, 'version'>): Promise<number | undefined>;
}

/** A token, or why there is none. The failure is always definite: without a token nothing is sent. */
export type TokenResult = { readonly ok: true; readonly token: SharedToken } | ServiceFailure;

/** Gives calls their access token. No method throws. */
export interface ServiceSession {
  /** The token for the next call. @param deadlineMs how long the caller can wait for it. */
  token(deadlineMs: number): Promise<TokenResult>;
  /** Another token after the service refused this one; logs in only if nobody else did since. */
  renewAfter401(refusedVersion: number, deadlineMs: number): Promise<TokenResult>;
  /** Says that the token of a fresh login was refused as well; further logins pause for a while. */
  refusedAfterRenewal(version: number): void;
  /** Waits for a login under way. */
  settled(): Promise<void>;
}

export interface ServiceSessionOptions {
  readonly call: Caller;
  readonly store: TokenStore;
  readonly credentials: { readonly email: string; readonly password: string; readonly deviceName: string };
  readonly mode: ServiceMode;
  /** Token lifetime to ask for, in days; used in production only. */
  readonly tokenDays?: number | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly timers?: Timers;
  /** Told of errors of the store; the call that met one is reported as not sent. */
  readonly onStoreError?: (error: unknown) => void;
}

// A share of the lifetime fits a token of an hour as well as one of a year ("a day before" would renew the former on
// every call), and a fifth in hand bridges a login that is down and clocks that differ.
const RENEW_AT_SHARE = 0.8;
// Less than half of the deadline of a send, so that a call that had to log in first can still be made.
const LOGIN_DEADLINE_MS = 8_000;
// Wrong credentials do not right themselves within seconds, and many tries may lock the account.
const REFUSED_PAUSE_MS = 30_000;
const FAILED_PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 300_000;

/**
 * One login session, shared with all other processes through the store: cached here with its version, renewed early
 * in the background, and after a 401. In one process logins are coalesced; two processes that log in at once are
 * settled by compare-and-set, and the loser uses the winner's token.
 */
export function createServiceSession(options: ServiceSessionOptions): ServiceSession {
  return new SharedSession(options);
}

class SharedSession implements ServiceSession {
  readonly #options: ServiceSessionOptions;
  readonly #timers: Timers;
  #cached: SharedToken | undefined;
  #renewal: Promise<TokenResult> | undefined;
  #pause: { readonly until: number; readonly failure: ServiceFailure } | undefined;
  #failedLogins = 0;

  constructor(options: ServiceSessionOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
  }

  async token(deadlineMs: number): Promise<TokenResult> {
    const cached = this.#cached;
    if (cached === undefined || this.#hasEnded(cached)) {
      return await this.#within(deadlineMs, this.#renew(cached?.version));
    }
    // In the background: a login that is slow or down costs nothing while the old token still works.
    if (this.#isDue(cached) && this.#paused() === undefined) void this.#renew(cached.version);
    return { ok: true, token: cached };
  }

  async renewAfter401(refusedVersion: number, deadlineMs: number): Promise<TokenResult> {
    const cached = this.#cached;
    if (cached !== undefined && this.#isUsable(cached, refusedVersion)) return { ok: true, token: cached };
    return await this.#within(deadlineMs, this.#renew(refusedVersion));
  }

  refusedAfterRenewal(version: number): void {
    if (this.#cached?.version !== version) return;
    this.#pauseLogins(
      REFUSED_PAUSE_MS,
      failure('unauthorized', 'The service refuses the token of a fresh login.', 401),
    );
  }

  async settled(): Promise<void> {
    await this.#renewal;
  }

  /** @param stale version that is of no use any more. */
  #renew(stale: number | undefined): Promise<TokenResult> {
    this.#renewal ??= this.#renewOnce(stale).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renewOnce(stale: number | undefined): Promise<TokenResult> {
    try {
      const stored = await this.#options.store.read();
      if (stored?.token !== undefined && this.#isUsable(stored.token, stale)) return this.#adopt(stored.token);
      return this.#paused() ?? (await this.#logIn(stored?.version, stale));
    } catch (error) {
      this.#options.onStoreError?.(error);
      return failure('not_sent', 'The shared access token could not be read or stored, so nothing was sent.');
    }
  }

  async #logIn(replacedVersion: number | undefined, stale: number | undefined): Promise<TokenResult> {
    const answer = await this.#options.call('login', { body: this.#loginBody(), deadlineMs: LOGIN_DEADLINE_MS });
    if (!answer.ok) return this.#loginFailed(answer);
    this.#failedLogins = 0;
    this.#pause = undefined;

    const { store, now } = this.#options;
    const fresh = tokenOf(answer.value, now());
    const version = await store.replace(replacedVersion, fresh);
    if (version !== undefined) return this.#adopt({ ...fresh, version });
    const winner = await store.read();
    if (winner?.token !== undefined && this.#isUsable(winner.token, stale)) return this.#adopt(winner.token);
    return failure(
      'not_sent',
      'Another process replaced the access token with one that is of no use; nothing was sent.',
    );
  }

  #loginBody(): Buffer {
    const { credentials, mode, tokenDays } = this.#options;
    const body: LoginRequest = {
      email: credentials.email,
      password: credentials.password,
      device_name: credentials.deviceName,
      // Only the production login accepts it (specification, Login request).
      ...(mode === 'production' && tokenDays !== undefined ? { expires_in_days: tokenDays } : {}),
    };
    return Buffer.from(JSON.stringify(body), 'utf8');
  }

  #loginFailed(answer: ServiceFailure): ServiceFailure {
    this.#failedLogins += 1;
    const meaning = LOGIN_FAILURES[answer.failure];
    const firstPause = meaning === 'unauthorized' || meaning === 'not_approved' ? REFUSED_PAUSE_MS : FAILED_PAUSE_MS;
    const pause = answer.retryAfterMs ?? backoffMs(firstPause, PAUSE_MAX_MS, this.#failedLogins);
    const detail = `The login failed, so nothing was sent. ${answer.detail}`;
    return this.#pauseLogins(pause, failure(meaning, detail, answer.status));
  }

  #pauseLogins(pauseMs: number, cause: ServiceFailure): ServiceFailure {
    const until = this.#options.now() + Math.min(pauseMs, PAUSE_MAX_MS);
    this.#pause = { until, failure: cause };
    return { ...cause, retryAfterMs: Math.min(pauseMs, PAUSE_MAX_MS) };
  }

  /** The failure that logins pause for, with the rest of the pause; undefined when a login may be tried. */
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

  /** A login goes on for the others when one caller cannot wait any longer. */
  async #within(deadlineMs: number, renewal: Promise<TokenResult>): Promise<TokenResult> {
    const { promise: passed, resolve: pass } = Promise.withResolvers<TokenResult>();
    const timer = this.#timers.setTimeout(() => {
      pass(failure('not_sent', 'There was no access token within the deadline, so nothing was sent.'));
    }, deadlineMs);
    try {
      return await Promise.race([renewal, passed]);
    } finally {
      this.#timers.clearTimeout(timer);
    }
  }
}

/**
 * What a failed login means for the call that needed it. All are definite and pass by themselves or after a hand
 * elsewhere: a login buys nothing, and a purchase must not fail for good because of one. Services answer wrong
 * credentials with 401, 400 or 422.
 */
const LOGIN_FAILURES = {
  invalid_request: 'unauthorized',
  unauthorized: 'unauthorized',
  package_unavailable: 'unauthorized',
  topup_not_offered: 'unauthorized',
  esim_busy: 'unauthorized',
  margin_too_low: 'unauthorized',
  cancellation_refused: 'unauthorized',
  refund_not_expected: 'not_sent',
  refund_uncertain: 'not_sent',
  insufficient_balance: 'unauthorized',
  not_approved: 'not_approved',
  rate_limited: 'rate_limited',
  not_sent: 'not_sent',
  price_above_limit: 'not_sent',
  service_down: 'not_sent',
  spend_limit_reached: 'not_sent',
  buying_paused: 'not_sent',
  deadline_passed: 'not_sent',
  key_or_reference_known: 'not_sent',
  supplier_failed: 'not_sent',
  timeout: 'not_sent',
  connection_lost: 'not_sent',
  server_error: 'not_sent',
  unreadable_answer: 'not_sent',
  contract_drift: 'not_sent',
  worker_lost: 'not_sent',
} as const satisfies Record<FailureClass, FailureClass>;

function tokenOf(answer: LoginResponse, now: number): Omit<SharedToken, 'version'> {
  const named = Date.parse(answer.expires_at ?? '');
  // An end that has passed already would mean a login before every call; a refusal will tell when the token ends.
  return { accessToken: answer.access_token, expiresAt: named > now ? named : undefined, renewedAt: now };
}

function failure(failureClass: FailureClass, detail: string, status?: number): ServiceFailure {
  return { ok: false, kind: 'failure', failure: failureClass, detail, ...(status === undefined ? {} : { status }) };
}
