import type { ServiceObservation } from '#domain/relay/observation.ts';

/**
 * Each inbox row counts once in each epoch of the database: signals repeat, and a new run also reads the inbox. In
 * another epoch PostgreSQL may give the same id to another row. Handling a row twice has no further effect.
 */
export class ObservationQueue {
  readonly #seen = new Set<string>();
  #waiting: ServiceObservation[] = [];

  /** For the signal handler: synchronous, never throws. */
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

  /** Oldest first. */
  takeAll(): readonly ServiceObservation[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}
