/** Waiting with a limit, and sharing a reading that is under way. */

/**
 * Waits for `work` for a limited time.
 * @throws Error after `ms` milliseconds; `work` continues.
 */
export async function within<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
  const { promise: deadline, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([work(), deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits for a promise for a limited time.
 * @param ms milliseconds.
 * @returns true when the promise was fulfilled in time, false when it is still pending.
 * @throws its rejection, if it is rejected in time.
 */
export async function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const { promise: deadline, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), ms);
  try {
    return await Promise.race([promise.then(() => true), deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** Lets callers share the reading that is under way, so that any number of them costs one at a time. */
export function joined<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () =>
    (running ??= (async () => read())().finally(() => {
      running = undefined;
    }));
}
