import type { ObservationDecision, ObservedOutcome } from '#domain/relay/observation.ts';

/**
 * A report of the service about work, by webhook or as the answer to a read. The inbox row is the record: a new run
 * reads unhandled reports from there.
 */
export interface ServiceObservation {
  /** Key of the inbox row. The same row twice has no second effect. */
  readonly inboxId: string;
  /**
   * Epoch of the database when the row was read. PostgreSQL may lose that a row was handled: in another epoch the
   * same row counts again.
   */
  readonly epoch?: string;
  readonly source: 'webhook' | 'read';
  /** Number of the attempt that it is about. */
  readonly attemptNumber: number;
  readonly outcome: ObservedOutcome;
  /** The decision of the relay. A report that is already `known` is not signalled. */
  readonly decision: Exclude<ObservationDecision, 'known'>;
}
