import { setTimeout as delay } from 'node:timers/promises';

/** Why there is no value: the time is over, or the promise was rejected. */
export type Missing = { readonly missing: 'late' } | { readonly missing: 'failed'; readonly error: unknown };

/** The value of a promise, or why it is missing after these milliseconds. Never throws. */
export async function within<Value extends object>(ms: number, promise: Promise<Value>): Promise<Value | Missing> {
  const over = new AbortController();
  try {
    return await Promise.race([promise, delay(ms, { missing: 'late' } as const, { signal: over.signal })]);
  } catch (error) {
    return { missing: 'failed', error };
  } finally {
    over.abort();
  }
}
