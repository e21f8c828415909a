import { setImmediate as nextTurn } from 'node:timers/promises';

/** @throws the reason of `signal` when it is aborted; `work` continues. */
export async function untilAborted<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  signal.throwIfAborted();
  // A promise of its own for each call: one that all calls share would keep each of them in memory.
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** @throws Error after `ms` milliseconds, and the reason of `signal` when it is aborted; `work` continues. */
export async function within<Result>(ms: number, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error(`no answer within ${ms} ms`)), ms);
  const limited = async () => untilAborted(limit.signal, work);
  try {
    return await (signal === undefined ? limited() : untilAborted(signal, limited));
  } finally {
    clearTimeout(timer);
  }
}

/** False when the promise is still pending after `ms` milliseconds. @throws its rejection in that time. */
export async function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const { promise: deadline, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), ms);
  try {
    return await Promise.race([promise.then(() => true), deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** Any number of callers cost one read at a time. */
export function joined<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () =>
    (running ??= (async () => read())().finally(() => {
      running = undefined;
    }));
}

const MAX_KEYS = 500;

/**
 * One read, or one write, serves all keys that are asked for in the same turn, or while an earlier one is under way. It
 * begins after it was asked for, so that it misses no change that its callers know of.
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
