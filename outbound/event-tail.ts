import type { Wakeups } from '#db/connection/wakeups.ts';
import type { PublishedEvent } from '#db/events/events.ts';
import type { Logger } from '#telemetry/logger.ts';

/** Read at a time. Few are new at a wake-up; a process that lags behind catches up in steps. */
const BATCH = 500;
/** After a read that failed. */
const RETRY_MS = 1_000;

export interface TailListener {
  /** Only events of this subject; of all when left out. */
  readonly subjectId?: string;
  /** Synchronous, and never throws: all others wait for it. */
  readonly onEvent: (event: PublishedEvent) => void;
  /** No event will come any more. */
  readonly onStop: () => void;
}

export interface EventTailOptions {
  /** Published events after a position, in order. */
  readonly read: (after: bigint, limit: number) => Promise<readonly PublishedEvent[]>;
  /** The position of the newest one. */
  readonly lastPosition: () => Promise<bigint>;
  readonly wakeups: Pick<Wakeups, 'next' | 'pause' | 'wake'>;
  /** For notifications that were lost. */
  readonly pollMs: number;
  readonly logger: Logger;
}

/**
 * Reads new events once for a whole process and hands them to all who wait in it, so that a thousand who wait cost one
 * query. Whoever listens first and reads afterwards misses nothing.
 */
export class EventTail {
  readonly #options: EventTailOptions;
  readonly #ofAll = new Set<TailListener>();
  readonly #ofSubject = new Map<string, Set<TailListener>>();
  #position: bigint | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: EventTailOptions) {
    this.#options = options;
  }

  /** True once nothing will be handed out any more. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Of the newest event that was handed out. @throws Error before {@link open} */
  get position(): bigint {
    if (this.#position === undefined) throw new Error('the event tail is not open yet');
    return this.#position;
  }

  /** Begins with what is published from now on. @throws DatabaseUnavailableError */
  async open(): Promise<void> {
    this.#position ??= await this.#options.lastPosition();
    this.#running ??= this.#run();
  }

  /** Tells all who listen that nothing comes any more, and waits for the read in hand. */
  async stop(): Promise<void> {
    if (!this.#stopped) {
      this.#stopped = true;
      for (const { onStop } of [...this.#ofAll, ...[...this.#ofSubject.values()].flatMap((of) => [...of])]) onStop();
    }
    this.#options.wakeups.wake();
    await this.#running;
  }

  /** Reads soon: somebody knows that there is something. */
  wake(): void {
    this.#options.wakeups.wake();
  }

  /** @returns what ends it. @throws Error before {@link open}: events could be missed. */
  listen(listener: TailListener): () => void {
    if (this.#position === undefined) throw new Error('the event tail is not open yet: events could be missed');
    const { subjectId } = listener;
    if (subjectId === undefined) {
      this.#ofAll.add(listener);
      return () => void this.#ofAll.delete(listener);
    }
    const others = this.#ofSubject.get(subjectId) ?? new Set();
    this.#ofSubject.set(subjectId, others.add(listener));
    return () => {
      others.delete(listener);
      if (others.size === 0 && this.#ofSubject.get(subjectId) === others) this.#ofSubject.delete(subjectId);
    };
  }

  async #run(): Promise<void> {
    const { wakeups, pollMs, logger } = this.#options;
    while (!this.#stopped) {
      try {
        await this.#readNew();
      } catch (error) {
        logger.warn({ err: error }, 'new events could not be read; it is tried again');
        await wakeups.pause(RETRY_MS);
        continue;
      }
      await wakeups.next(pollMs);
    }
  }

  async #readNew(): Promise<void> {
    for (;;) {
      const batch = await this.#options.read(this.#position ?? 0n, BATCH);
      for (const event of batch) {
        this.#position = event.position;
        this.#handOut(event);
      }
      if (batch.length < BATCH || this.#stopped) return;
    }
  }

  #handOut(event: PublishedEvent): void {
    // Who stops listening while it is handed out is not in the way of the others: a Set allows that.
    for (const { onEvent } of this.#ofAll) onEvent(event);
    for (const { onEvent } of this.#ofSubject.get(event.subjectId) ?? []) onEvent(event);
  }
}
