import { InFlight } from '#api/access/limits.ts';
import type { PublishedEvent } from '#db/events/event-log.ts';
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
  readonly lineageId: string;
  readonly subjectId?: string;
  readonly isRelevant: (event: PublishedEvent) => boolean;
  readonly read: () => Promise<Found>;
  readonly isEnough: (found: Found) => boolean;
  readonly onClose: (listener: () => void) => void;
}

export interface WaitResult<Found> {
  /** The last value read; undefined after the caller has disconnected. */
  readonly found: Found | undefined;
  /** False when too many callers wait, or the process stops. */
  readonly isGranted: boolean;
}

/** A waiting caller needs no database connection and no thread, only a listener of the event tail and a timer. */
export class Waits {
  readonly #options: WaitsOptions;
  readonly #waiting: InFlight;

  constructor(options: WaitsOptions) {
    this.#options = options;
    this.#waiting = new InFlight((total) => options.metrics.waiting.set({ for: 'answer' }, total));
  }

  /** In seconds. */
  granted(seconds: number): number {
    return Math.min(seconds, Math.floor(this.#options.policy.maxMs / 1_000));
  }

  /** Returns at once when the process stops, or too many callers wait, of this key or in total. */
  async until<Found>(wait: Wait<Found>): Promise<WaitResult<Found>> {
    const { tail, policy } = this.#options;
    const granted = this.granted(wait.seconds);
    if (granted === 0) return { found: await wait.read(), isGranted: true };
    const places = { total: policy.maxWaiting, perSender: policy.maxWaitingPerKey };
    const leave = tail.stopped ? undefined : this.#waiting.enter(wait.lineageId, places);
    if (leave === undefined) return { found: await wait.read(), isGranted: false };
    // Before the first read, so that no change in between is missed.
    const eventWait = new EventWait(tail, wait, granted * 1_000);
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
      leave();
    }
  }
}

type EventWaiting = Pick<Wait<unknown>, 'subjectId' | 'isRelevant' | 'onClose'>;

class EventWait {
  /** Undefined while it lasts. */
  endReason: 'time' | 'stop' | 'gone' | undefined;
  readonly end: () => void;
  #hasEvent = false;
  #wake: (() => void) | undefined;

  constructor(tail: Pick<EventTail, 'listen'>, { subjectId, isRelevant, onClose }: EventWaiting, ms: number) {
    const endFor = (reason: 'time' | 'stop' | 'gone') => () => {
      this.endReason ??= reason;
      this.#wake?.();
    };
    const stopListening = tail.listen({
      ...(subjectId !== undefined && { subjectId }),
      onEvent: (event) => {
        if (!isRelevant(event)) return;
        this.#hasEvent = true;
        this.#wake?.();
      },
      onStop: endFor('stop'),
    });
    const timer = setTimeout(endFor('time'), ms);
    onClose(endFor('gone'));
    this.end = () => {
      stopListening();
      clearTimeout(timer);
    };
  }

  /** At once if an event came since the last call. */
  async next(): Promise<void> {
    if (!this.#hasEvent && this.endReason === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
    this.#hasEvent = false;
  }
}
