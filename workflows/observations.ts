import type { ServiceObservation } from '#workflows/messages.ts';

/**
 * What the service said and the workflow has not answered yet. A signal may be delivered twice and a workflow that
 * starts anew also reads the inbox, so the same row counts once.
 */
export class ObservationQueue {
  readonly #seen = new Set<string>();
  #waiting: ServiceObservation[] = [];

  /** Called by the signal handler: synchronous, never throws. */
  offer(observation: ServiceObservation): void {
    if (this.#seen.has(observation.inboxId)) return;
    this.#seen.add(observation.inboxId);
    this.#waiting.push(observation);
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
