/** Times and limits of the relay, and of how a worker watches Temporal. Part of `domain/policy/policy.ts`. */
const second = 1_000;
const minute = 60 * second;

export interface RelayPolicy {
  /** Slow poll beside NOTIFY, because a notification may be lost. Each poll is one statement for all queues. */
  readonly pollMs: number;
  /**
   * The poll becomes up to this slow while notifications arrive and it finds nothing. A row that nobody announced waits
   * this long at most: its writer died between its commit and the notification, stops its relay, or is a command.
   */
  readonly pollMaxMs: number;
  /**
   * Pause of a queue after each round. A burst of wake-ups becomes one round, and a row that comes right after a round
   * waits this long.
   */
  readonly roundPauseMs: number;
  /** Rows taken at once. */
  readonly batch: number;
  /**
   * How long taken rows belong to one relay. Rows of a relay that died are taken again after this time. Longer than any
   * call to Temporal, so that rows are rarely taken twice.
   */
  readonly leaseMs: number;
  /** First wait before a row is tried again; doubled each time. */
  readonly retryDelayMs: number;
  readonly retryDelayMaxMs: number;
  /**
   * Tries with a lasting error before a row is quarantined. With the growing waits ten tries take four minutes: longer
   * than a deployment in which one process already has a new encryption key and another does not.
   */
  readonly lastingTries: number;
  /**
   * Time for calls under way when the process stops. Twice this plus WORKER_SHUTDOWN_GRACE (20 s) stays below the 30 s
   * after which the container is killed.
   */
  readonly stopMs: number;
  /**
   * `/readyz` reports the relay as behind when a row waits for longer. A healthy relay takes milliseconds; a relay that
   * died holds a row until its lease ends.
   */
  readonly behindAfterMs: number;
}

/** How a worker watches whether Temporal answers. */
export interface TemporalHealthPolicy {
  /**
   * Interval between two checks. Short enough for a probe every ten seconds; the load is small beside that of a worker.
   */
  readonly everyMs: number;
  /** Deadline of one check. A busy server answers within a second. */
  readonly deadlineMs: number;
  /**
   * Time without an answer after which Temporal counts as unreachable. One lost check does not count, and a restart
   * takes a few seconds.
   */
  readonly unreachableAfterMs: number;
}

export const RELAY_POLICY: RelayPolicy = {
  pollMs: 5 * second,
  pollMaxMs: 10 * second,
  roundPauseMs: 10,
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
