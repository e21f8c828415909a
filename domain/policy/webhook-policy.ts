/** Times and limits of webhooks in both directions: those of the service, and event webhooks to webhook endpoints. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

export interface WebhookSilencePolicy {
  /** How far back it is looked for news that webhooks should have brought. */
  readonly windowMs: number;
  /** So many pieces of news found by asking, and no webhook since the first of them: webhooks do not arrive. One lost
   * webhook is usual, several in a row are not. */
  readonly news: number;
}

export interface WebhookSecretPolicy {
  /** How long a former webhook secret of the service still verifies after a rotation. The specification states neither
   * how soon the service signs with the new one nor how long it goes on delivering what it signed before; a day is what
   * senders that try again for hours need, and a secret that leaked is rotated with an overlap of nothing. */
  readonly overlapMs: number;
}

/** How events are delivered to webhook endpoints of internal systems. */
export interface OutboundPolicy {
  /**
   * Total deadline of one try. Receivers are to answer first and work afterwards; Standard Webhooks asks for 15 to 30
   * s.
   */
  readonly sendDeadlineMs: number;
  /**
   * How long a try has its delivery to itself. More than the deadline, so that only a worker that died lets go of it.
   */
  readonly leaseMs: number;
  /**
   * First wait before a delivery is tried again; doubled each time. A receiver that is just restarting is back by then.
   */
  readonly retryDelayMs: number;
  /** Longest such wait: the end of an outage is found by the next delivery or probe, not by this. */
  readonly retryDelayMaxMs: number;
  /** How long one delivery is tried. A receiver that broke on Friday evening is looked at on Monday morning. */
  readonly retryForMs: number;
  /**
   * So many tries failed in a row, and the endpoint counts as failing: it gets one delivery at a time. Fewer may be
   * single events that it cannot take.
   */
  readonly failingAfter: number;
  /** Longest wait between those: an outage that is over is noticed within this. */
  readonly probeDelayMaxMs: number;
  /** An endpoint without a single success for so long is disabled. Longer than one delivery is tried. */
  readonly disableAfterMs: number;
  /** Deliveries sent to one endpoint at a time. */
  readonly lanes: number;
  /**
   * How long one round of sending goes on before the next endpoint has its turn; a round ends with the tries under way,
   * within the grace that a stopping worker has.
   */
  readonly roundMs: number;
  /** How long a delivery that has ended stays in the log. */
  readonly logKeptMs: number;
  /** How long the former secret of an endpoint still signs after a rotation, where the caller names no other time. */
  readonly secretOverlapMs: number;
}

/**
 * Of webhook secrets, the service's and ours, and of API keys. A month: whoever wants a longer overlap wants no
 * rotation.
 */
export const MAX_WEBHOOK_SECRET_OVERLAP_MS = 30 * 24 * hour;

/** A round of sending must end within the time that its activity has. */
export const MAX_OUTBOUND_DEADLINE_MS = minute;

export const WEBHOOK_SECRET_POLICY: WebhookSecretPolicy = {
  overlapMs: 24 * hour,
};

export const WEBHOOK_SILENCE_POLICY: WebhookSilencePolicy = {
  windowMs: hour,
  news: 5,
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
