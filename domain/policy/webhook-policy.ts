import {
  count,
  DAY,
  duration,
  FIRST_WAIT,
  HOUR,
  MINUTE,
  SECOND,
  TIMER,
  type Values,
  valuesOf,
} from '#domain/policy/settings.ts';
import { WEBHOOK_TOLERANCE_SECONDS } from '#domain/service/service-address.ts';

/** A longer overlap would defeat the rotation. */
export const MAX_WEBHOOK_SECRET_OVERLAP_MS = 30 * DAY;

export const SERVICE_WEBHOOK_SETTINGS = {
  /** Timestamps are whole seconds, so a new one is up to a second old already. */
  toleranceMs: duration(
    'service_webhooks.timestamp_tolerance',
    WEBHOOK_TOLERANCE_SECONDS * SECOND,
    'How far the timestamp of a delivery may be from our clock. The default is that of the specification; a ' +
      'shorter time refuses deliveries that it allows.',
    { min: 2 * SECOND, max: WEBHOOK_TOLERANCE_SECONDS * SECOND },
  ),
  /**
   * The specification is silent: a day covers senders that retry for hours. Rotate a leaked secret with zero overlap.
   */
  secretOverlapMs: duration(
    'service_webhooks.secret_overlap',
    DAY,
    'How long the former stored webhook secret stays valid after a rotation.',
    { max: MAX_WEBHOOK_SECRET_OVERLAP_MS },
  ),
};

export const WEBHOOK_SILENCE_SETTINGS = {
  windowMs: duration(
    'service_webhooks.silence_window',
    HOUR,
    'Period in which changes are counted that webhooks should have reported.',
  ),
  /** One lost webhook is usual, several in a row are not. */
  reports: count(
    'service_webhooks.silence_reports',
    5,
    [1, 1_000],
    'Number of such changes without a webhook between them after which webhooks count as missing.',
  ),
};

export const OUTBOUND_SETTINGS = {
  /** Receivers should answer first and work afterwards; Standard Webhooks recommends 15 to 30 s. */
  sendDeadlineMs: duration(
    'event_webhooks.deadline',
    15 * SECOND,
    'Total time for one try to deliver an event to a webhook endpoint.',
    // A round of sending must end within the timeout of its activity.
    { ...TIMER, max: MINUTE },
  ),
  /** Only the lease of a dead worker runs out. */
  leaseMs: duration(
    'event_webhooks.lease',
    30 * SECOND,
    'How long such a try has the exclusive right to its delivery. More than deadline.',
  ),
  /** A restarting receiver is back by then. */
  retryDelayMs: duration(
    'event_webhooks.retry_delay',
    5 * SECOND,
    'First wait before a delivery is tried again; doubled each time, and varied by a fifth.',
    FIRST_WAIT,
  ),
  /** The next delivery or probe notices the end of an outage sooner. */
  retryDelayMaxMs: duration('event_webhooks.retry_delay_max', 6 * HOUR, 'Longest such wait.'),
  /** A receiver that broke on Friday evening is repaired on Monday morning. */
  retryForMs: duration('event_webhooks.retry_for', 3 * DAY, 'How long one delivery is tried. Less than events.kept.'),
  /** Fewer failures may be single events that it cannot process. */
  failingAfter: 5,
  /** The end of an outage is noticed within this time. */
  probeDelayMaxMs: duration(
    'event_webhooks.probe_delay_max',
    15 * MINUTE,
    'Longest wait between tries of an endpoint that only fails.',
  ),
  /** Longer than one delivery is tried. */
  disableAfterMs: duration(
    'event_webhooks.disable_after',
    5 * DAY,
    'An endpoint without a success for this time is disabled.',
  ),
  lanes: 4,
  /** Time of one round, before the next endpoint has its turn. It ends within the grace of a stopping worker. */
  roundMs: 5 * SECOND,
  logKeptMs: duration('event_webhooks.log_kept', 30 * DAY, 'How long finished deliveries are kept.'),
  secretOverlapMs: duration(
    'event_webhooks.secret_overlap',
    DAY,
    'How long the former secret of an endpoint still signs after a rotation.',
    { max: MAX_WEBHOOK_SECRET_OVERLAP_MS },
  ),
};

export type WebhookSilencePolicy = Values<typeof WEBHOOK_SILENCE_SETTINGS>;
export type OutboundPolicy = Values<typeof OUTBOUND_SETTINGS>;
export const OUTBOUND_POLICY: OutboundPolicy = valuesOf(OUTBOUND_SETTINGS);
