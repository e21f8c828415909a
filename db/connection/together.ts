import { setImmediate as nextTurn } from 'node:timers/promises';

const MAX_KEYS = 500;

/**
 * One read serves all keys that are asked for in the same turn, or while an earlier read is under way. It begins after
 * it was asked for, so that it misses no change that its callers know of.
 */
export function together<Key, Found>(
  readAll: (keys: readonly Key[]) => Promise<(key: Key) => Found | Promise<Found>>,
): (key: Key) => Promise<Found> {
  let next: { readonly keys: Key[]; readonly found: ReturnType<typeof readAll> } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const begin = () => {
    const keys: Key[] = [];
    const found = last.then(nextTurn).then(() => {
      if (next?.keys === keys) next = undefined;
      return readAll(keys);
    });
    last = found.catch(() => undefined);
    return { keys, found };
  };
  return async (key) => {
    if (next === undefined || next.keys.length >= MAX_KEYS) next = begin();
    const { keys, found } = next;
    keys.push(key);
    return (await found)(key);
  };
}
