import type { PublishedEvent } from '#db/events/event-log.ts';
import type { EventTail } from '#outbound/event-tail.ts';

/** Options of a wait for events. */
export interface EventWaitOptions {
  /** Limits the wait to events of this subject; default: all events. */
  readonly subjectId?: string;
  /** True for an event after which the caller reads again. */
  readonly isRelevant: (event: PublishedEvent) => boolean;
  /** Registers a listener for the end of the caller's connection. */
  readonly onClose: (listener: () => void) => void;
}

/** Waits for the next relevant event of the event tail, until the time is over or the caller is gone. */
export class EventWait {
  /** Why the wait is over; undefined while it lasts. */
  endReason: 'time' | 'stop' | 'gone' | undefined;
  readonly end: () => void;
  #hasEvent = false;
  #wake: (() => void) | undefined;

  /** @param ms maximum wait in milliseconds. */
  constructor(tail: Pick<EventTail, 'listen'>, { subjectId, isRelevant, onClose }: EventWaitOptions, ms: number) {
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

  /** Resolves with the next relevant event or when the wait ends; at once if an event came since the last call. */
  async next(): Promise<void> {
    if (!this.#hasEvent && this.endReason === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
    this.#hasEvent = false;
  }
}
