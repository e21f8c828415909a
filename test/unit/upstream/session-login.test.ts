import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FAILURE_CLASSES, failureClasses, isDefinite, type FailureClass } from '#domain/work/failure.ts';
import {
  accessTokenOf,
  DEADLINE,
  refused,
  token,
  versionOf,
  world,
  type LoginAnswer,
} from '#test/support/service-session.ts';

describe('the login', () => {
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
    const { store, newSession } = world();
    await newSession().token(DEADLINE);
    store.read = async () => await Promise.resolve({ version: 1, token: undefined });
    expect(versionOf(await newSession().token(DEADLINE))).toBe(2);
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

describe('a failed login', () => {
  it.each(failureClasses)('is definite and temporary, also when the login ended with %s', async (failure) => {
    const { login, newSession } = world();
    login.answer = () => refused(failure);
    const result = await newSession().token(DEADLINE);
    const named = result.ok ? undefined : result.failure;
    expect(named !== undefined && isDefinite(named) && FAILURE_CLASSES[named].disposition).toBe('hold');
  });

  it.each([
    ['not_found', undefined],
    ['not_approved', 'not_approved'],
  ] as const)(
    'with the code %s has the code %s: only a missing approval is no answer to the call',
    async (code, kept) => {
      const { login, newSession } = world();
      login.answer = () => refused('invalid_request', { status: 404, code });
      const result = await newSession().token(DEADLINE);
      expect(result.ok ? 'a token' : result.code).toBe(kept);
    },
  );

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
});

describe('a caller', () => {
  it('with too little time for a slow login sends nothing, and the login serves the next one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { login, newSession } = world();
    const slow = Promise.withResolvers<LoginAnswer>();
    login.answer = () => slow.promise;
    const session = newSession();
    const impatient = session.token(DEADLINE);
    vi.advanceTimersByTime(DEADLINE - 1);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await impatient).toMatchObject({ failure: 'not_sent' });
    const patient = session.token(DEADLINE);
    slow.resolve(token('late'));
    expect(accessTokenOf(await patient)).toBe('late');
    expect(login.bodies).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
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
});
