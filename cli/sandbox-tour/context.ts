import { duration } from '#cli/doctor/duration.ts';
import type { Capabilities } from '#domain/service/capability-profile.ts';
import type { ServiceClient } from '#upstream/client.ts';

/** Dependencies of every leg of a tour. */
export interface TourContext {
  readonly client: ServiceClient;
  /** The configured capabilities of the service. The client of the tour has all of them switched on. */
  readonly configured: Capabilities;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly delay: (ms: number) => Promise<unknown>;
  /** Returns a new unique text, for keys and references. */
  readonly newId: () => string;
  /** How long the tour waits for a result, in milliseconds. */
  readonly waitMs: number;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Calls `read` with growing pauses until it returns a value.
 *
 * @param read returns undefined while there is no value yet.
 * @returns undefined when `waitMs` has passed.
 */
export async function until<Value>(
  { now, delay, waitMs }: Pick<TourContext, 'now' | 'delay' | 'waitMs'>,
  read: () => Promise<Value | undefined>,
): Promise<Value | undefined> {
  const endsAt = now() + waitMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const found = await read();
    if (found !== undefined) return found;
    const left = endsAt - now();
    if (left <= 0) return undefined;
    await delay(Math.min(pause, left));
  }
}

/** A duration as text, also below a second. @param ms milliseconds, zero or more. */
export function lapse(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : duration(ms);
}
