import { describe, expect, it } from 'vitest';
import type { ServiceMode } from '#domain/service/service-address.ts';
import { FAILURE_CLASSES, failureClasses, isDefinite, type FailureClass } from '#domain/work/failure.ts';
import { ManualTimers } from '#test/support/manual-timers.ts';
import { MemoryTokenStore } from '#test/support/memory-token-store.ts';
import type { Caller } from '#upstream/client/call.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';
import { createServiceSession, type ServiceSession, type TokenResult } from '#upstream/client/session.ts';
import type { LoginResponse } from '#upstream/contract.ts';

const START = Date.UTC(2025, 0, 1);
const HOUR = 3_600_000;
const DEADLINE = 20_000;

type LoginAnswer = ServiceResult<LoginResponse>;

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

function token(accessToken: string, expiresAt?: number): LoginAnswer {
  const expires_at = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
  return { ok: true, status: 200, value: { access_token: accessToken, expires_at } };
}

function refused(failure: FailureClass, more: Partial<ServiceFailure> = {}): ServiceFailure {
  return { ok: false, kind: 'failure', failure, detail: `The login gave ${failure}.`, ...more };
}

interface World {
  readonly clock: { now: number };
  readonly login: Login;
  readonly store: MemoryTokenStore;
  readonly timers: ManualTimers;
  readonly storeErrors: unknown[];
  readonly newSession: (settings?: { mode?: ServiceMode; tokenDays?: number }) => ServiceSession;
}

function world(): World {
  const clock = { now: START };
  const [login, store, timers, storeErrors] = [
    new Login(),
    new MemoryTokenStore(),
    new ManualTimers(),
    [] as unknown[],
  ];
  return {
    clock,
    login,
    store,
    timers,
    storeErrors,
    newSession: ({ mode = 'sandbox', tokenDays } = {}) =>
      createServiceSession({
        call: login.call,
        store,
        credentials: { email: 'shop@example.com', password: 'secret', deviceName: 'backend' },
        mode,
        tokenDays,
        now: () => clock.now,
        timers,
        onStoreError: (error) => storeErrors.push(error),
      }),
  };
}

const accessTokenOf = (result: TokenResult) => (result.ok ? result.token.accessToken : result);
const versionOf = (result: TokenResult) => (result.ok ? result.token.version : undefined);

describe('the login', () => {
  it.each<[ServiceMode, number | undefined, object]>([
    ['sandbox', undefined, {}],
    ['sandbox', 30, {}],
    ['production', undefined, {}],
    ['production', 30, { expires_in_days: 30 }],
  ])(
    'in %s with a configured lifetime of %s days asks for %o [spec: auth.lifetime, field.login.expires_in_days]',
    async (mode, tokenDays, asked) => {
      const { login, newSession } = world();
      await newSession({ mode, ...(tokenDays === undefined ? {} : { tokenDays }) }).token(DEADLINE);
      expect(login.bodies).toEqual([
        { email: 'shop@example.com', password: 'secret', device_name: 'backend', ...asked },
      ]);
    },
  );

  it('is made once for concurrent calls', async () => {
    const { login, newSession } = world();
    const session = newSession();
    const results = await Promise.all(Array.from({ length: 20 }, () => session.token(DEADLINE)));
    expect(results.map(accessTokenOf)).toEqual(Array.from({ length: 20 }, () => 'token-1'));
    expect(login.bodies).toHaveLength(1);
  });

  it('is not made when another process has stored a token', async () => {
    const { login, newSession } = world();
    await newSession().token(DEADLINE);
    expect(accessTokenOf(await newSession().token(DEADLINE))).toBe('token-1');
    expect(login.bodies).toHaveLength(1);
  });

  it('is made when the stored token is unusable', async () => {
    const { login, store, newSession } = world();
    await newSession().token(DEADLINE);
    const unusable = Object.assign(new MemoryTokenStore(), {
      read: async () => await Promise.resolve({ version: 1, token: undefined }),
      replace: store.replace.bind(store),
    });
    const session = createServiceSession({
      call: login.call,
      store: unusable,
      credentials: { email: 'a@example.com', password: 'b', deviceName: 'c' },
      mode: 'sandbox',
      now: () => START,
    });
    expect(versionOf(await session.token(DEADLINE))).toBe(2);
  });

  it('that loses against another process returns the token of the winner', async () => {
    const { login, newSession, store } = world();
    const [first, second] = [newSession(), newSession()];
    const results = await Promise.all([first.token(DEADLINE), second.token(DEADLINE)]);
    expect(login.bodies).toHaveLength(2);
    expect(results.map(accessTokenOf)).toEqual([store.stored?.accessToken, store.stored?.accessToken]);
    expect(results.map(versionOf)).toEqual([1, 1]);
  });
});

describe('the renewal before the end', () => {
  async function aged(share: number) {
    const made = world();
    made.login.answer = () => token(`token-${made.login.bodies.length}`, made.clock.now + HOUR);
    const session = made.newSession();
    await session.token(DEADLINE);
    made.clock.now = START + share * HOUR;
    return { ...made, session };
  }

  it('starts after four fifths of the lifetime, and not earlier [spec: gap.token-end]', async () => {
    const early = await aged(0.79);
    await early.session.token(DEADLINE);
    await early.session.settled();
    expect(early.login.bodies).toHaveLength(1);

    const due = await aged(0.8);
    expect(accessTokenOf(await due.session.token(DEADLINE))).toBe('token-1');
    await due.session.settled();
    expect(accessTokenOf(await due.session.token(DEADLINE))).toBe('token-2');
    expect(due.login.bodies).toHaveLength(2);
  });

  it('keeps the old token during an outage of the login, with pauses between tries', async () => {
    const { session, login, store, clock } = await aged(0.9);
    const reads = store.reads;
    login.answer = () => refused('server_error');
    for (let call = 0; call < 10; call += 1) {
      expect(accessTokenOf(await session.token(DEADLINE))).toBe('token-1');
      await session.settled();
    }
    expect(login.bodies).toHaveLength(2);
    expect(store.reads).toBe(reads + 1);
    clock.now = START + HOUR;
    expect(await session.token(DEADLINE)).toMatchObject({ ok: false, failure: 'not_sent' });
  });

  it('uses the token that another process renewed', async () => {
    const { session, login, newSession } = await aged(0.9);
    await newSession().renewAfter401(1, DEADLINE);
    await session.token(DEADLINE);
    await session.settled();
    expect(accessTokenOf(await session.token(DEADLINE))).toBe('token-2');
    expect(login.bodies).toHaveLength(2);
  });

  it.each([
    ['no end', undefined],
    ['an end that has passed', START - 1],
  ])('never starts for a token with %s, because a refusal shows the end', async (_name, end) => {
    const { login, clock, newSession } = world();
    login.answer = () => token('token', end);
    const session = newSession();
    await session.token(DEADLINE);
    clock.now = START + 1_000 * 24 * HOUR;
    await session.token(DEADLINE);
    await session.settled();
    expect(login.bodies).toHaveLength(1);
  });
});

describe('the renewal after a 401', () => {
  it('logs in once for all calls refused with the same token [spec: gap.token-end]', async () => {
    const { login, newSession } = world();
    const session = newSession();
    await session.token(DEADLINE);
    const results = await Promise.all(Array.from({ length: 10 }, () => session.renewAfter401(1, DEADLINE)));
    expect(new Set(results.map(accessTokenOf))).toEqual(new Set(['token-2']));
    expect(accessTokenOf(await session.renewAfter401(1, DEADLINE))).toBe('token-2');
    expect(login.bodies).toHaveLength(2);
  });

  it('does not log in when another process did', async () => {
    const { login, newSession } = world();
    const [first, second] = [newSession(), newSession()];
    await first.token(DEADLINE);
    await second.token(DEADLINE);
    await first.renewAfter401(1, DEADLINE);
    expect(accessTokenOf(await second.renewAfter401(1, DEADLINE))).toBe('token-2');
    expect(login.bodies).toHaveLength(2);
  });

  it('pauses when the token of a new login was refused too', async () => {
    const { login, clock, newSession } = world();
    const session = newSession();
    await session.token(DEADLINE);
    await session.renewAfter401(1, DEADLINE);
    session.refusedAfterRenewal(2);
    expect(await session.renewAfter401(2, DEADLINE)).toMatchObject({ failure: 'unauthorized', retryAfterMs: 30_000 });
    expect(login.bodies).toHaveLength(2);
    clock.now += 30_000;
    expect(versionOf(await session.renewAfter401(2, DEADLINE))).toBe(3);
  });
});

describe('a failed login', () => {
  it.each(failureClasses)('is definite and temporary, also when the login ended with %s', async (failure) => {
    const { login, newSession } = world();
    login.answer = () => refused(failure);
    const result = await newSession().token(DEADLINE);
    const named = result.ok ? undefined : result.failure;
    expect(named !== undefined && isDefinite(named) && FAILURE_CLASSES[named].disposition).toBe('hold');
  });

  it.each<[FailureClass, FailureClass]>([
    ['unauthorized', 'unauthorized'],
    ['invalid_request', 'unauthorized'],
    ['not_approved', 'not_approved'],
    ['rate_limited', 'rate_limited'],
    ['timeout', 'not_sent'],
    ['contract_drift', 'not_sent'],
  ])('of %s is reported as %s, with the detail of the login', async (failure, reported) => {
    const { login, newSession } = world();
    login.answer = () => refused(failure, { status: 418 });
    expect(await newSession().token(DEADLINE)).toMatchObject({
      failure: reported,
      detail: `The login failed, so nothing was sent. The login gave ${failure}.`,
      status: 418,
    });
  });

  it('for wrong credentials blocks the next one for half a minute, then twice as long each time', async () => {
    const { login, clock, newSession } = world();
    login.answer = () => refused('unauthorized');
    const session = newSession();
    for (const pause of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
      const logins = login.bodies.length;
      expect(await session.token(DEADLINE)).toMatchObject({ failure: 'unauthorized', retryAfterMs: pause });
      clock.now += pause - 1;
      expect(await session.token(DEADLINE)).toMatchObject({ failure: 'unauthorized', retryAfterMs: 1 });
      expect(login.bodies).toHaveLength(logins + 1);
      clock.now += 1;
    }
  });

  it('with a Retry-After is not repeated before', async () => {
    const { login, clock, newSession } = world();
    login.answer = () => refused('rate_limited', { retryAfterMs: 45_000 });
    const session = newSession();
    expect(await session.token(DEADLINE)).toMatchObject({ failure: 'rate_limited', retryAfterMs: 45_000 });
    clock.now += 44_999;
    await session.token(DEADLINE);
    expect(login.bodies).toHaveLength(1);
    clock.now += 1;
    await session.token(DEADLINE);
    expect(login.bodies).toHaveLength(2);
  });

  it('does not prevent the use of a token that another process got', async () => {
    const { login, newSession } = world();
    login.answer = () => refused('unauthorized');
    const session = newSession();
    await session.token(DEADLINE);
    login.answer = () => token('from another process');
    await newSession().token(DEADLINE);
    expect(accessTokenOf(await session.token(DEADLINE))).toBe('from another process');
  });
});

describe('a caller', () => {
  it('with too little time for a slow login sends nothing, and the login serves the next one', async () => {
    const { login, timers, newSession } = world();
    const slow = Promise.withResolvers<LoginAnswer>();
    login.answer = () => slow.promise;
    const session = newSession();
    const impatient = session.token(DEADLINE);
    expect(timers.delays).toEqual([DEADLINE]);
    timers.pass();
    expect(await impatient).toMatchObject({ failure: 'not_sent' });
    const patient = session.token(DEADLINE);
    slow.resolve(token('late'));
    expect(accessTokenOf(await patient)).toBe('late');
    expect(login.bodies).toHaveLength(1);
    expect(timers.delays).toEqual([]);
  });

  it('gets not_sent without the store, and the error is reported', async () => {
    const { store, storeErrors, login, newSession } = world();
    store.broken = new Error('PostgreSQL is not available');
    const session = newSession();
    expect(await session.token(DEADLINE)).toMatchObject({ failure: 'not_sent' });
    expect(storeErrors).toEqual([store.broken]);
    expect(login.bodies).toHaveLength(0);
    store.broken = undefined;
    expect(accessTokenOf(await session.token(DEADLINE))).toBe('token-1');
  });

  it('with a cached token needs no store', async () => {
    const { store, newSession } = world();
    const session = newSession();
    await session.token(DEADLINE);
    store.broken = new Error('PostgreSQL is not available');
    expect(accessTokenOf(await session.token(DEADLINE))).toBe('token-1');
  });
});
