import { EventWait } from '#api/waits/event-wait.ts';
import type { PublishedEvent } from '#db/events/events.ts';
import type { WaitingPolicy } from '#domain/policy/api-policy.ts';
import type { EventTail } from '#outbound/event-tail.ts';
import type { Metrics } from '#telemetry/metrics.ts';

export interface WaitsOptions {
  readonly tail: Pick<EventTail, 'listen' | 'stopped'>;
  readonly policy: WaitingPolicy;
  readonly metrics: Pick<Metrics, 'waiting'>;
}

export interface Wait<Found> {
  readonly seconds: number;
  /** The key lineage of the waiting caller. */
  readonly lineageId: string;
  /** The subject whose events are of interest; all when left out. */
  readonly subjectId?: string;
  /** Whether it is worth reading again because of an event. */
  readonly isRelevant: (event: PublishedEvent) => boolean;
  readonly read: () => Promise<Found>;
  readonly isEnough: (found: Found) => boolean;
  /** Calls back when the caller's connection is closed. */
  readonly onClose: (listener: () => void) => void;
}

/** What came of a wait. */
export interface WaitResult<Found> {
  /** What was read last; undefined when nobody waits for it any more. */
  readonly found: Found | undefined;
  /** False where it was not waited for as long as is granted: too many wait already, or the process stops. */
  readonly isGranted: boolean;
}

/**
 * Lets callers wait for what is about to change. One who waits holds no connection of the database and no thread: a
 * listener of the event tail and a timer.
 */
export class Waits {
  readonly #options: WaitsOptions;
  #waiting = 0;
  /** How many of each key wait, while any does. */
  readonly #waitingOf = new Map<string, number>();

  constructor(options: WaitsOptions) {
    this.#options = options;
  }

  /** How many seconds of those that a caller asks for are granted. */
  granted(seconds: number): number {
    return Math.min(seconds, Math.floor(this.#options.policy.maxMs / 1_000));
  }

  /**
   * Reads, and reads again with each piece of news, until it is enough or the time is over; at once where the process
   * stops, or too many wait already, of this key or of all.
   *
   * @throws what `read` throws.
   */
  async until<Found>(wait: Wait<Found>): Promise<WaitResult<Found>> {
    const { tail, policy, metrics } = this.#options;
    const granted = this.granted(wait.seconds);
    if (granted === 0) return { found: await wait.read(), isGranted: true };
    if (tail.stopped || !this.#hasRoom(wait.lineageId, policy)) return { found: await wait.read(), isGranted: false };
    // Listening comes before the first read: what changes in between rings.
    const eventWait = new EventWait(tail, wait, granted * 1_000);
    this.#count(wait.lineageId, 1, metrics);
    try {
      for (;;) {
        const isLast = eventWait.endReason === 'time';
        const found = await wait.read();
        if (isLast || wait.isEnough(found)) return { found, isGranted: true };
        await eventWait.next();
        if (eventWait.endReason === 'gone') return { found: undefined, isGranted: false };
        if (eventWait.endReason === 'stop') return { found, isGranted: false };
      }
    } finally {
      eventWait.end();
      this.#count(wait.lineageId, -1, metrics);
    }
  }

  #hasRoom(lineageId: string, { maxWaiting, maxWaitingPerKey }: WaitingPolicy): boolean {
    return this.#waiting < maxWaiting && (this.#waitingOf.get(lineageId) ?? 0) < maxWaitingPerKey;
  }

  #count(lineageId: string, change: 1 | -1, { waiting }: Pick<Metrics, 'waiting'>): void {
    this.#waiting += change;
    const own = (this.#waitingOf.get(lineageId) ?? 0) + change;
    if (own === 0) this.#waitingOf.delete(lineageId);
    else this.#waitingOf.set(lineageId, own);
    waiting.set({ for: 'answer' }, this.#waiting);
  }
}
