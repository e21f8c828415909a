import { setTimeout as delay } from 'node:timers/promises';

/**
 * @returns true when the promise was fulfilled in time, false when it is still pending. @throws what it is rejected
 *   with in time.
 */
export async function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const deadline = delay(ms, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([promise.then(() => true), deadline]);
  } finally {
    timer.abort();
  }
}
