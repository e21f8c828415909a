import { setTimeout as delay } from 'node:timers/promises';

/** Thrown by a condition that can no longer become true. */
export class NeverError extends Error {}

interface WaitOptions {
  /**
   * Time limit in milliseconds, reached only on failure. The default is three minutes, because a busy machine may take
   * twenty times as long as an idle one.
   */
  readonly timeoutMs?: number;
  readonly everyMs?: number;
  /** Additional text of the failure message: the last answer, the end of a log, … */
  readonly context?: () => string | Promise<string>;
}

/**
 * Waits until `condition` returns a value other than undefined, null or false, and returns it. An error of the
 * condition counts as "not yet", a {@link NeverError} as "never".
 *
 * @param what text of the failure message: "the order is completed".
 * @throws Error with `what`, the last value or error, and the context.
 */
export async function waitFor<Value>(
  what: string,
  condition: () => Promise<Value> | Value,
  options: WaitOptions = {},
): Promise<Exclude<Value, undefined | null | false>> {
  const { timeoutMs = 180_000, everyMs = 50, context } = options;
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

/** True if the promise is resolved or rejected. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const settled = promise.catch(() => undefined);
  // One turn of the event loop, because a resolved promise settles others only after several microtasks.
  const turn = new Promise((resolve) => setImmediate(resolve, pending));
  return (await Promise.race([settled, turn])) !== pending;
}
