/** @throws Error after `ms` milliseconds; `work` continues. */
export async function within<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
  const { promise: deadline, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([work(), deadline]);
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
