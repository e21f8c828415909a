import type { PublishedEvent } from '#db/events/events.ts';
import type { WaitingPolicy } from '#domain/policy.ts';
import type { EventTail } from '#outbound/event-tail.ts';
import type { Metrics } from '#telemetry/metrics.ts';

export interface WaitsOptions {
  readonly tail: Pick<EventTail, 'listen' | 'stopped'>;
  readonly policy: WaitingPolicy;
  readonly metrics: Pick<Metrics, 'waiting'>;
}

export interface Wait<Found> {
  readonly seconds: number;
  /** Who waits: the line of the caller's API key. */
  readonly lineageId: string;
  /** The subject whose events are of interest; all when left out. */
  readonly subjectId?: string;
  /** Whether it is worth reading again because of an event. */
  readonly isNews: (event: PublishedEvent) => boolean;
  readonly read: () => Promise<Found>;
  readonly isEnough: (found: Found) => boolean;
  /** Calls back when nobody waits any more. */
  readonly onClose: (listener: () => void) => void;
}

/** What came of a wait. */
export interface Waited<Found> {
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
  async until<Found>(wait: Wait<Found>): Promise<Waited<Found>> {
    const { tail, policy, metrics } = this.#options;
    const granted = this.granted(wait.seconds);
    if (granted === 0) return { found: await wait.read(), isGranted: true };
    if (tail.stopped || !this.#hasRoom(wait.lineageId, policy)) return { found: await wait.read(), isGranted: false };
    // Listening comes before the first read: what changes in between rings.
    const bell = new Bell(tail, wait, granted * 1_000);
    this.#count(wait.lineageId, 1, metrics);
    try {
      for (;;) {
        const isLast = bell.reason === 'time';
        const found = await wait.read();
        if (isLast || wait.isEnough(found)) return { found, isGranted: true };
        await bell.rings();
        if (bell.reason === 'gone') return { found: undefined, isGranted: false };
        if (bell.reason === 'stop') return { found, isGranted: false };
      }
    } finally {
      bell.end();
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

/** Rings for news, and for good when the wait is over. */
class Bell {
  /** Why it will not ring any more, but for what has rung. */
  reason: 'time' | 'stop' | 'gone' | undefined;
  readonly end: () => void;
  #news = false;
  #wake: (() => void) | undefined;

  constructor(
    tail: Pick<EventTail, 'listen'>,
    { subjectId, isNews, onClose }: Pick<Wait<unknown>, 'subjectId' | 'isNews' | 'onClose'>,
    ms: number,
  ) {
    const over = (reason: 'time' | 'stop' | 'gone') => () => {
      this.reason ??= reason;
      this.#wake?.();
    };
    const stopListening = tail.listen({
      ...(subjectId !== undefined && { subjectId }),
      onEvent: (event) => {
        if (!isNews(event)) return;
        this.#news = true;
        this.#wake?.();
      },
      onStop: over('stop'),
    });
    const timer = setTimeout(over('time'), ms);
    onClose(over('gone'));
    this.end = () => {
      stopListening();
      clearTimeout(timer);
    };
  }

  /** Resolves with the next news, or at the end; at once if there was any since. */
  async rings(): Promise<void> {
    if (!this.#news && this.reason === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
    this.#news = false;
  }
}
