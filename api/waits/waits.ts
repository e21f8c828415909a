import { InFlight } from '#api/access/limits.ts';
import type { PublishedEvent } from '#db/events/event-log.ts';
import type { WaitingPolicy } from '#domain/policy/api-policy.ts';
import type { EventTail } from '#outbound/event-tail.ts';
import type { Metrics } from '#telemetry/metrics.ts';

interface WaitsOptions {
  readonly tail: Pick<EventTail, 'listen' | 'stopped'>;
  readonly policy: WaitingPolicy;
  readonly metrics: Pick<Metrics, 'waiting'>;
}

/** Work that returns to a status for the same reason announces no event. */
const READ_AGAIN_MS = 10_000;

export interface Wait<Found> extends Pick<Hearing, 'subjectId' | 'isRelevant' | 'onClose'> {
  readonly seconds: number;
  readonly lineageId: string;
  readonly read: () => Promise<Found>;
  readonly isEnough: (found: Found) => boolean;
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

  /**
   * `isGranted` is false when the process stops, or too many callers wait, of this key or in total: it then returns at
   * once. `found` is the last value read; undefined after the caller has disconnected.
   */
  async until<Found>(wait: Wait<Found>) {
    const { tail, policy } = this.#options;
    const granted = this.granted(wait.seconds);
    if (granted === 0) return { found: await wait.read(), isGranted: true };
    const places = { total: policy.maxWaiting, perSender: policy.maxWaitingPerKey };
    const leave = tail.stopped ? undefined : this.#waiting.enter(wait.lineageId, places);
    if (leave === undefined) return { found: await wait.read(), isGranted: false };
    // Before the first read, so that no change in between is missed.
    const heard = new HeardEvents(tail, { ...wait, limit: 1 });
    const end = performance.now() + granted * 1_000;
    try {
      for (;;) {
        // An event during the read is then waited for no longer.
        heard.take();
        const found = await wait.read();
        const leftMs = end - performance.now();
        if (leftMs <= 0 || wait.isEnough(found)) return { found, isGranted: true };
        // A timer may fire a little early.
        await heard.next(Math.ceil(Math.min(leftMs, READ_AGAIN_MS)) + 1);
        if (heard.over === 'gone') return { found: undefined, isGranted: false };
        if (heard.over === 'stop') return { found, isGranted: false };
      }
    } finally {
      heard.end();
      leave();
    }
  }
}

interface Hearing {
  /** Default: all events. */
  readonly subjectId?: string;
  readonly isRelevant: (event: PublishedEvent) => boolean;
  readonly onClose: (listener: () => void) => void;
  /** Of events that are not taken yet. */
  readonly limit: number;
  readonly onOverflow?: () => void;
}

/** The relevant events since its creation, until the connection closes or the process stops. */
export class HeardEvents {
  /** Undefined while it lasts. */
  over: 'stop' | 'gone' | undefined;
  readonly end: () => void;
  #events: PublishedEvent[] = [];
  #wake: (() => void) | undefined;

  constructor(tail: Pick<EventTail, 'listen'>, { subjectId, isRelevant, onClose, limit, onOverflow }: Hearing) {
    const endFor = (reason: 'stop' | 'gone') => () => {
      this.over ??= reason;
      this.#wake?.();
    };
    this.end = tail.listen({
      ...(subjectId !== undefined && { subjectId }),
      onEvent: (event) => {
        if (!isRelevant(event)) return;
        if (this.#events.length >= limit) onOverflow?.();
        else this.#events.push(event);
        this.#wake?.();
      },
      onStop: endFor('stop'),
    });
    onClose(endFor('gone'));
  }

  take(): readonly PublishedEvent[] {
    const taken = this.#events;
    this.#events = [];
    return taken;
  }

  /** Resolves with the next event, after `ms` milliseconds, or when it is over. */
  async next(ms: number): Promise<void> {
    if (this.over !== undefined || this.#events.length > 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}
