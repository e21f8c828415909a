import type { PublishedEvent } from '#db/events/event-log.ts';
import type { EventTail } from '#outbound/event-tail.ts';

export interface Hearing {
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
