import { describe, expect, it } from 'vitest';
import { KeyLookups } from '#api/access/key-lookups.ts';
import type { ApiKeyRow } from '#db/access/api-keys.ts';

type Query = { readonly prefixes: readonly string[] } & PromiseWithResolvers<readonly ApiKeyRow[]>;

const row = (prefix: string, revokedAt: Date | null = null) => ({ prefix, revokedAt }) as ApiKeyRow;

function lookups() {
  const queries: Query[] = [];
  const keys = new KeyLookups((prefixes) => {
    const query = { prefixes, ...Promise.withResolvers<readonly ApiKeyRow[]>() };
    queries.push(query);
    return query.promise;
  });
  return { keys, queries };
}
/** Waits until all ready work has run. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a look-up of API keys', () => {
  it('is shared by all callers during another one, and returns to each its own key', async () => {
    const { keys, queries } = lookups();
    const first = keys.find('a');
    await settled();
    const others = Promise.all([keys.find('b'), keys.find('c'), keys.find('b'), keys.find('d')]);
    await settled();
    expect(queries.map(({ prefixes }) => prefixes)).toEqual([['a']]);
    queries[0]!.resolve([row('a')]);
    expect(await first).toEqual(row('a'));
    await settled();
    expect(queries.map(({ prefixes }) => prefixes)).toEqual([['a'], ['b', 'c', 'd']]);
    queries[1]!.resolve([row('c'), row('b')]);
    expect(await others).toEqual([row('b'), row('c'), row('b'), undefined]);
  });

  it('never uses an earlier query, so a revocation in between is seen', async () => {
    const { keys, queries } = lookups();
    const before = keys.find('a');
    await settled();
    const after = keys.find('a');
    queries[0]!.resolve([row('a')]);
    expect((await before)?.revokedAt).toBeNull();
    await settled();
    queries[1]!.resolve([row('a', new Date(1))]);
    expect((await after)?.revokedAt).toEqual(new Date(1));
    expect(queries).toHaveLength(2);
  });

  it('fails its own callers, and no others', async () => {
    const { keys, queries } = lookups();
    const failing = keys.find('a');
    await settled();
    const next = keys.find('a');
    queries[0]!.reject(new Error('the connection broke'));
    await expect(failing).rejects.toThrow('the connection broke');
    await settled();
    queries[1]!.resolve([row('a')]);
    expect(await next).toEqual(row('a'));
  });

  it('does not wait for an endless one', async () => {
    const { keys, queries } = lookups();
    void keys.find('a');
    await settled();
    const next = keys.find('b');
    await expect.poll(() => queries.length).toBe(2);
    queries[1]!.resolve([row('b')]);
    expect(await next).toEqual(row('b'));
  });
});
