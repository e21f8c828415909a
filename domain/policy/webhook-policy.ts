/** Times and limits of webhooks in both directions: those of the service, and event webhooks to webhook endpoints. */
import { WEBHOOK_TOLERANCE_SECONDS } from '#domain/service/service-address.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

export interface WebhookSilencePolicy {
  /** How far back reports are counted that a webhook should have brought. */
  readonly windowMs: number;
  /**
   * Number of reports found by look-ups, without a webhook since the first of them, that show that webhooks do not
   * arrive. One lost webhook is usual, several in a row are not.
   */
  readonly reports: number;
}

export interface WebhookTimestampPolicy {
  /**
   * How far the timestamp of a webhook of the service may be from our clock, either way. The specification states five
   * minutes. A shorter time refuses deliveries that the specification allows; tests use it to delete reports soon.
   */
  readonly toleranceMs: number;
}

export interface WebhookSecretPolicy {
  /**
   * How long a former webhook secret of the service still verifies after a rotation. The specification states neither
   * how soon the service signs with the new secret nor how long it delivers webhooks signed before. A day covers
   * senders that retry for hours. Rotate a leaked secret with an overlap of zero.
   */
  readonly overlapMs: number;
}

/** How events are delivered to webhook endpoints of internal systems. */
export interface OutboundPolicy {
  /**
   * Total deadline of one try. Receivers should answer first and work afterwards; Standard Webhooks recommends 15 to 30
   * s.
   */
  readonly sendDeadlineMs: number;
  /**
   * How long one worker holds a delivery. Longer than the deadline, so that only the lease of a dead worker runs out.
   */
  readonly leaseMs: number;
  /** First wait before a delivery is tried again; doubled each time. A restarting receiver is back by then. */
  readonly retryDelayMs: number;
  /** Longest such wait. The next delivery or probe notices the end of an outage sooner. */
  readonly retryDelayMaxMs: number;
  /** How long one delivery is tried. A receiver that broke on Friday evening is repaired on Monday morning. */
  readonly retryForMs: number;
  /**
   * Failed tries in a row after which an endpoint counts as failing and gets one delivery at a time. Fewer failures may
   * be single events that it cannot process.
   */
  readonly failingAfter: number;
  /** Longest wait between deliveries to a failing endpoint: the end of an outage is noticed within this time. */
  readonly probeDelayMaxMs: number;
  /** An endpoint without a success for this long is disabled. Longer than one delivery is tried. */
  readonly disableAfterMs: number;
  /** Concurrent deliveries to one endpoint. */
  readonly lanes: number;
  /**
   * Time of one round of sending before the next endpoint has its turn. A round ends with the tries under way, within
   * the grace of a stopping worker.
   */
  readonly roundMs: number;
  /** How long a finished delivery stays in the log. */
  readonly logKeptMs: number;
  /** Default overlap in which the former secret of an endpoint still signs after a rotation. */
  readonly secretOverlapMs: number;
}

/**
 * Longest overlap of webhook secrets, the service's and ours, and of API keys. A longer overlap would defeat the
 * rotation.
 */
export const MAX_WEBHOOK_SECRET_OVERLAP_MS = 30 * 24 * hour;

/** A round of sending must end within the timeout of its activity. */
export const MAX_OUTBOUND_DEADLINE_MS = minute;

export const WEBHOOK_TIMESTAMP_POLICY: WebhookTimestampPolicy = {
  toleranceMs: WEBHOOK_TOLERANCE_SECONDS * second,
};

export const WEBHOOK_SECRET_POLICY: WebhookSecretPolicy = {
  overlapMs: 24 * hour,
};

export const WEBHOOK_SILENCE_POLICY: WebhookSilencePolicy = {
  windowMs: hour,
  reports: 5,
};

export const OUTBOUND_POLICY: OutboundPolicy = {
  sendDeadlineMs: 15 * second,
  leaseMs: 30 * second,
  retryDelayMs: 5 * second,
  retryDelayMaxMs: 6 * hour,
  retryForMs: 3 * 24 * hour,
  failingAfter: 5,
  probeDelayMaxMs: 15 * minute,
  disableAfterMs: 5 * 24 * hour,
  lanes: 4,
  roundMs: 5 * second,
  logKeptMs: 30 * 24 * hour,
  secretOverlapMs: 24 * hour,
};
