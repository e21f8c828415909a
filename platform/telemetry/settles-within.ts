import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for a promise for a limited time.
 *
 * @param ms milliseconds.
 * @returns true when the promise was fulfilled in time, false when it is still pending.
 * @throws its rejection, if it is rejected in time.
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
