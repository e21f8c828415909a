import { describe, expect, it } from 'vitest';
import { RefusedPrefixes, otherHeaderPrefix } from '#api/service-webhooks/refused-header-prefixes.ts';

const four = (prefix: string) => ['event', 'delivery', 'timestamp', 'signature'].map((name) => `${prefix}-${name}`);

describe('another header prefix of a delivery', () => {
  it.each([
    ['x-acme', 'X-Acme'],
    ['x-acme-mobile', 'X-Acme-Mobile'],
    ['acme', 'Acme'],
    ['x_acme', 'X_acme'],
  ])('is found with %s, and named %s', (prefix, named) => {
    expect(otherHeaderPrefix(['host', ...four(prefix), 'content-type'], 'X-Service')).toBe(named);
  });

  it.each([
    ['ours', four('x-service')],
    ['ours and another', [...four('x-service'), ...four('x-acme')]],
    ['one of ours with another', ['x-service-event', ...four('x-acme')]],
    ['three of four', four('x-acme').slice(1)],
    ['four of two brands', ['x-acme-event', 'x-acme-delivery', 'x-other-timestamp', 'x-other-signature']],
    ['none', ['host']],
    ['a prefix of 41 characters', four(`x-${'a'.repeat(39)}`)],
    ['a prefix with a character that has no place in a setting', four('x-ac!me')],
    ['no prefix at all', ['-event', '-delivery', '-timestamp', '-signature']],
  ])('is not found in %s', (_name, names) => {
    expect(otherHeaderPrefix(names, 'X-Service')).toBeUndefined();
  });
});

describe('a flood of forged deliveries with other prefixes', () => {
  function refusals() {
    const state = { now: 1_000_000, writes: 0, isAway: false, warnings: [] as object[] };
    const prefixes = new RefusedPrefixes({
      database: {
        run: async () => {
          state.writes += 1;
          if (state.isAway) throw new Error('the database is away');
          return undefined as never;
        },
      },
      logger: { warn: (fields: object) => void state.warnings.push(fields) } as never,
      now: () => state.now,
    });
    return { prefixes, state };
  }

  it('is stored once a minute, and each prefix is logged once, at most twenty of them', async () => {
    const { prefixes, state } = refusals();
    for (let forgery = 0; forgery < 500; forgery += 1) await prefixes.add(`X-Forged-${forgery % 100}`, false);
    expect(state.writes).toBe(1);
    expect(state.warnings).toHaveLength(20);
    state.now += 60_000;
    await prefixes.add('X-Forged-1', false);
    expect(state.writes).toBe(2);
  });

  it('does not prevent the log entry and the row of a verified delivery', async () => {
    const { prefixes, state } = refusals();
    for (let forgery = 0; forgery < 100; forgery += 1) await prefixes.add(`X-Forged-${forgery}`, false);
    await prefixes.add('X-Acme', true);
    expect(state.writes).toBe(2);
    expect(state.warnings.at(-1)).toEqual({ prefix: 'X-Acme', verified: true });
  });
});
