/** @throws Error after `ms` milliseconds, and at once when `signal` is aborted; `work` continues. */
export async function within<Result>(ms: number, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  const onAbort = () => reject(new Error('stopped'));
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(), ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
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
