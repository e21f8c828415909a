import { duration, MINUTE, SECOND, TIMER, type Values, valuesOf } from '#domain/policy/settings.ts';

export const RELAY_SETTINGS = {
  /** Beside NOTIFY, because a notification may be lost. Each poll is one statement for all queues. */
  pollMs: duration(
    'relay.poll',
    5 * SECOND,
    'Poll interval of the relay, in addition to notifications. It grows to ten seconds while they arrive and nothing ' +
      'waits.',
    TIMER,
  ),
  /** A row that nobody announced waits this long at most. */
  pollMaxMs: 10 * SECOND,
  /** Pause after each round: a burst of wake-ups becomes one round. */
  roundPauseMs: 10,
  batch: 100,
  /** Longer than any call to Temporal, so that rows are rarely taken twice. */
  leaseMs: duration(
    'relay.lease',
    30 * SECOND,
    'How long rows that a relay took belong to it. Rows of a stopped relay become available after that.',
    TIMER,
  ),
  retryDelayMs: SECOND,
  retryDelayMaxMs: MINUTE,
  /** Tries with a lasting error. Ten take four minutes: longer than a deployment with a new encryption key. */
  lastingTries: 10,
  /** Twice this plus WORKER_SHUTDOWN_GRACE (20 s) stays below the 45 s after which the container is killed. */
  stopMs: 2 * SECOND,
  /** Shown by `/readyz`. A relay that died holds a row until its lease ends. */
  behindAfterMs: 45 * SECOND,
};

export const TEMPORAL_HEALTH_POLICY = {
  /** Interval between two checks: short enough for a probe every ten seconds. */
  everyMs: 5 * SECOND,
  /** Deadline of one check. A busy server answers within a second. */
  deadlineMs: 5 * SECOND,
  /** One lost check does not count, and a restart takes a few seconds. */
  unreachableAfterMs: 15 * SECOND,
};

export type RelayPolicy = Values<typeof RELAY_SETTINGS>;
export const RELAY_POLICY: RelayPolicy = valuesOf(RELAY_SETTINGS);
