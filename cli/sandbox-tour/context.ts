import { duration } from '#cli/doctor/duration.ts';
import type { Capabilities } from '#domain/service/capabilities.ts';
import type { ServiceClient } from '#upstream/client.ts';

/** What every leg of a tour has at hand. */
export interface TourContext {
  readonly client: ServiceClient;
  /** What the configuration takes the service to be able to do. The client itself has everything switched on. */
  readonly configured: Capabilities;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly delay: (ms: number) => Promise<unknown>;
  /** A text that was never used before: for keys and references. */
  readonly newId: () => string;
  /** How long something that is processing is followed, in milliseconds. */
  readonly waitMs: number;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Reads again and again, with growing pauses, until there is something.
 *
 * @param read undefined means "not yet".
 * @returns undefined when the time of the tour's waits is over.
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

/** A duration for people that may be below a second. @param ms milliseconds, zero or more. */
export function lapse(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : duration(ms);
}
