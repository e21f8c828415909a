import type { ServiceObservation } from '#domain/relay/observation.ts';

/**
 * Reports of the service that no step has taken yet. A signal may be delivered twice, and a new run also reads the
 * inbox, so each inbox row counts once in each epoch of the database. In another epoch PostgreSQL may have lost that a
 * row was handled, and may give its id to another row. Handling a row twice has no further effect.
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

  /** Takes all queued reports, oldest first. */
  takeAll(): readonly ServiceObservation[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}
