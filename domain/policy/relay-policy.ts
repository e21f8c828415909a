/** Times and limits of the relay, and of how a worker watches Temporal. Part of `domain/policy/policy.ts`. */
const second = 1_000;
const minute = 60 * second;

export interface RelayPolicy {
  /** Slow poll beside NOTIFY, for notifications that were lost. */
  readonly pollMs: number;
  /** Rows taken at a time. */
  readonly batch: number;
  /**
   * How long taken rows belong to one relay; what it has not handed over by then, since it died, comes again. Longer
   * than any call to Temporal takes, so that rows are not taken twice as a rule.
   */
  readonly leaseMs: number;
  /** First wait before a row that could not be handed over is tried again; doubled each time. */
  readonly retryDelayMs: number;
  readonly retryDelayMaxMs: number;
  /**
   * Tries that fail for an error that does not pass by itself before a row is quarantined. With the growing waits ten
   * of them take four minutes: longer than a deployment in which one process has a new encryption key and another does
   * not yet.
   */
  readonly lastingTries: number;
  /**
   * How long calls under way may take when the process stops; then they are given up. Twice this and
   * WORKER_SHUTDOWN_GRACE (20 s) stay below the 30 s after which the container is killed.
   */
  readonly stopMs: number;
  /**
   * A row that waits for longer counts as behind in `/readyz`: a healthy relay takes milliseconds, and one that died
   * holds a row for its lease.
   */
  readonly behindAfterMs: number;
}

/** How a worker watches whether Temporal answers. */
export interface TemporalHealthPolicy {
  /**
   * Between two questions. Often enough that a probe every ten seconds sees it, and nothing beside what a worker asks
   * anyway.
   */
  readonly everyMs: number;
  /** A question that takes longer has failed. A busy server answers within a second. */
  readonly deadlineMs: number;
  /**
   * So long without an answer, Temporal counts as unreachable: one lost question is none, a restart of it takes a few
   * seconds.
   */
  readonly unreachableAfterMs: number;
}

export const RELAY_POLICY: RelayPolicy = {
  pollMs: 5 * second,
  batch: 100,
  leaseMs: 30 * second,
  retryDelayMs: second,
  retryDelayMaxMs: minute,
  lastingTries: 10,
  stopMs: 2 * second,
  behindAfterMs: 45 * second,
};

export const TEMPORAL_HEALTH_POLICY: TemporalHealthPolicy = {
  everyMs: 5 * second,
  deadlineMs: 5 * second,
  unreachableAfterMs: 15 * second,
};
