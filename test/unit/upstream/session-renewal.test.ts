import { describe, expect, it } from 'vitest';
import { accessTokenOf, DEADLINE, refused, START, token, versionOf, world } from '#test/support/service-session.ts';

const HOUR = 3_600_000;

describe('the renewal before the end', () => {
  async function aged(share: number) {
    const made = world();
    made.login.answer = () => token(`token-${made.login.bodies.length}`, made.clock.now + HOUR);
    const session = made.newSession();
    await session.token(DEADLINE);
    made.clock.now = START + share * HOUR;
    return { ...made, session };
  }

  it('starts after four fifths of the lifetime, and not earlier', async () => {
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
  it('logs in once for all calls refused with the same token', async () => {
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
