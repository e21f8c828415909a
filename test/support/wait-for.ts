import { setTimeout as delay } from 'node:timers/promises';

/** Thrown by a condition to say that it can no longer come true. */
export class NeverError extends Error {}

export interface WaitOptions {
  /**
   * Milliseconds; reached only when what is waited for does not happen. Ninety seconds by default, since a busy machine
   * may take ten times as long as a quiet one.
   */
  readonly timeoutMs?: number;
  readonly everyMs?: number;
  /** What to show when it does not happen: the last answer, the end of a log, … */
  readonly context?: () => string | Promise<string>;
}

/**
 * Waits until `condition` gives something other than undefined, null or false, and returns it. An error that it
 * throws counts as "not yet", a {@link NeverError} as "never".
 *
 * @param what named in the failure: "the order is completed".
 * @throws Error that names what did not happen, the last value or error, and the context.
 */
export async function waitFor<Value>(
  what: string,
  condition: () => Promise<Value> | Value,
  options: WaitOptions = {},
): Promise<Exclude<Value, undefined | null | false>> {
  const { timeoutMs = 90_000, everyMs = 50, context } = options;
  const started = Date.now();
  let last: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value !== undefined && value !== null && value !== false) {
        return value as Exclude<Value, undefined | null | false>;
      }
      last = value;
    } catch (error) {
      last = error;
      if (error instanceof NeverError) break;
    }
    if (Date.now() - started > timeoutMs) break;
    await delay(everyMs);
  }
  const lines = [
    `${last instanceof NeverError ? 'never' : `not within ${timeoutMs} ms`}: ${what}`,
    `last: ${last instanceof Error ? (last.stack ?? last.message) : JSON.stringify(last)}`,
  ];
  if (context !== undefined) lines.push(await context());
  throw new Error(lines.join('\n'));
}

/** True when the promise has resolved or was rejected. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const settled = promise.catch(() => undefined);
  // A turn of the event loop: a promise that has just resolved passes that on through several others.
  const turn = new Promise((resolve) => setImmediate(resolve, pending));
  return (await Promise.race([settled, turn])) !== pending;
}
