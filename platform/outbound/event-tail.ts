import type { Wakeups } from '#db/connection/wakeups.ts';
import type { PublishedEvent } from '#db/events/event-log.ts';
import { pollWaitMs, type PollPolicy } from '#domain/relay/relay-decision.ts';
import type { Logger } from '#telemetry/logger.ts';

const BATCH = 500;
const RETRY_MS = 1_000;

interface TailListener {
  /** Default: all events. */
  readonly subjectId?: string;
  /** Must be synchronous and must not throw: all other listeners wait for it. */
  readonly onEvent: (event: PublishedEvent) => void;
  readonly onStop: () => void;
}

interface EventTailOptions {
  readonly read: (after: bigint, limit: number) => Promise<readonly PublishedEvent[]>;
  readonly lastPosition: () => Promise<bigint>;
  readonly wakeups: Pick<Wakeups, 'next' | 'pause' | 'wake' | 'isHearing'>;
  /** Times between two reads without a notification: notifications may be lost. */
  readonly policy: PollPolicy;
  readonly logger: Logger;
}

/** Reads new events once for all listeners. A caller that first listens and then reads the past events misses none. */
export class EventTail {
  readonly #options: EventTailOptions;
  readonly #listeners = new Set<TailListener>();
  #position: bigint | undefined;
  /** Undefined: events must be read to know it. */
  #announced: bigint | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: EventTailOptions) {
    this.#options = options;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Newest event that was passed on. @throws Error before {@link open} */
  get position(): bigint {
    if (this.#position === undefined) throw new Error('the event tail is not open yet');
    return this.#position;
  }

  /** Starts with events published from now on. @throws DatabaseUnavailableError */
  async open(): Promise<void> {
    this.#position ??= await this.#options.lastPosition();
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    if (!this.#stopped) {
      this.#stopped = true;
      for (const { onStop } of this.#listeners) onStop();
    }
    this.#options.wakeups.wake();
    await this.#running;
  }

  /** @param position the payload of a notification; empty from a process of an earlier version. */
  hear(position: string): void {
    this.#announced = /^\d{1,18}$/.test(position) ? BigInt(position) : undefined;
    this.#options.wakeups.wake();
  }

  /** @returns a function that removes the listener. @throws Error before {@link open}: events could be missed. */
  listen(listener: TailListener): () => void {
    if (this.#position === undefined) throw new Error('the event tail is not open yet: events could be missed');
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #run(): Promise<void> {
    const { wakeups, policy, logger } = this.#options;
    let waitMs = policy.pollMs;
    while (!this.#stopped) {
      try {
        const isPassed = this.#passUnheard();
        const foundRows = !isPassed && (await this.#readNew()) > 0;
        if (!isPassed && !foundRows) await this.#followLoss();
        waitMs = pollWaitMs({ waitMs, foundRows, isHearing: wakeups.isHearing() }, policy);
      } catch (error) {
        logger.warn({ err: error }, 'new events could not be read; the process tries again');
        await wakeups.pause(RETRY_MS);
        continue;
      }
      await wakeups.next(waitMs);
    }
  }

  /** Without listeners no event needs to be read. @returns true if the notified position is passed. */
  #passUnheard(): boolean {
    const announced = this.#announced;
    this.#announced = undefined;
    if (announced === undefined || announced < this.position || this.#listeners.size > 0) return false;
    this.#position = announced;
    return true;
  }

  /** After a loss of commits other events get the positions that were passed: all readers must begin anew. */
  async #followLoss(): Promise<void> {
    const last = await this.#options.lastPosition();
    if (last >= this.position) return;
    this.#options.logger.warn({ from: this.position, to: last }, 'PostgreSQL has lost events; streams are ended');
    this.#position = last;
    for (const { onStop } of this.#listeners) onStop();
  }

  async #readNew(): Promise<number> {
    for (let total = 0; ;) {
      const batch = await this.#options.read(this.#position ?? 0n, BATCH);
      for (const event of batch) {
        this.#position = event.position;
        this.#handOut(event);
      }
      total += batch.length;
      if (batch.length < BATCH || this.#stopped) return total;
    }
  }

  #handOut(event: PublishedEvent): void {
    // A listener may remove itself meanwhile: a Set allows that during its iteration.
    for (const { subjectId = event.subjectId, onEvent } of this.#listeners) {
      if (subjectId === event.subjectId) onEvent(event);
    }
  }
}
