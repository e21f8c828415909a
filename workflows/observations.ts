import type { ServiceObservation } from '#workflows/messages.ts';

/**
 * What the service said and the workflow has not answered yet. A signal may be delivered twice and a workflow that
 * starts anew also reads the inbox, so the same row counts once in each epoch of the database: PostgreSQL, set back,
 * has forgotten that a row was answered, and may give its id to another one. To answer a row twice does no harm.
 */
export class ObservationQueue {
  readonly #seen = new Set<string>();
  #waiting: ServiceObservation[] = [];

  /** Called by the signal handler: synchronous, never throws. */
  offer(observation: ServiceObservation): void {
    const { inboxId, epoch = '' } = observation;
    const name = `${inboxId} ${epoch}`;
    if (this.#seen.has(name)) return;
    this.#seen.add(name);
    this.#waiting = [...this.#waiting.filter((waiting) => waiting.inboxId !== inboxId), observation];
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Takes everything that waits, oldest first. */
  takeAll(): readonly ServiceObservation[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}
