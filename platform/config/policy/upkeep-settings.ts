/** Settings of the policy file about upkeep, webhooks, events and callers. Each group is a name in the file. */
import { A_SECOND, duration, FIRST_WAIT, TIMER, wholeNumber } from '#config/policy/fields.ts';
import { MAX_WAIT_MS } from '#domain/policy/api-policy.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { MAX_OUTBOUND_DEADLINE_MS, MAX_WEBHOOK_SECRET_OVERLAP_MS } from '#domain/policy/webhook-policy.ts';

const { books: BOOKS, catalogue: CATALOGUE, outbound: OUTBOUND, reconcile: RECONCILE } = DEFAULT_POLICY;
const { relay: RELAY, streams: STREAMS, sweep: SWEEP, waiting: WAITING } = DEFAULT_POLICY;
const { webhookSecret: SECRET, webhookSilence: SILENCE, webhookTimestamp: TIMESTAMP } = DEFAULT_POLICY;
/** Timestamps are whole seconds, so a new one is up to a second old already. */
const MIN_TOLERANCE_MS = 2_000;

/** `books`: the comparison with the wallet. */
export const booksSettings = {
  every: duration(BOOKS.everyMs, 'How often the books are compared with the wallet.', A_SECOND),
  overlap: duration(BOOKS.overlapMs, 'Period of the wallet that is read again, for movements that appear late.'),
  grace: duration(BOOKS.graceMs, 'How old a movement without a cause must be before it is reported.'),
  pages: wholeNumber(BOOKS.pages, [1, 10_000], 'Pages of 100 movements read in one run.'),
};

/** `catalogue`: packages and VPN plans. */
export const catalogueSettings = {
  every: duration(
    CATALOGUE.everyMs,
    'How often packages and VPN plans are read from the service and stored.',
    A_SECOND,
  ),
};

/** `reconciler`: look-ups of work that the service is silent about. */
export const reconcilerSettings = {
  every: duration(RECONCILE.everyMs, 'How often silent work is looked up at the service.', A_SECOND),
  silent_after: duration(RECONCILE.silentAfterMs, 'Time without a report after which accepted work counts as silent.'),
};

/** `sweeper`: unfinished work whose workflow is lost. */
export const sweeperSettings = {
  every: duration(
    SWEEP.everyMs,
    'How often the sweeper looks for unfinished work without a running workflow, or with a workflow that should have ' +
      'continued.',
    A_SECOND,
  ),
  idle_after: duration(SWEEP.idleAfterMs, 'How long an order must be unchanged for that.'),
  history_kept: duration(
    SWEEP.historyKeptMs,
    'How long the timeline and the processed reports of ended work, and the audit log, are kept. Orders and other ' +
      'work, attempts, wallet movements and the journal are kept for good. At least twice ' +
      'service_webhooks.timestamp_tolerance.',
  ),
};

/** `relay`: from PostgreSQL to Temporal. */
export const relaySettings = {
  poll: duration(
    RELAY.pollMs,
    'Poll interval of the relay, in addition to notifications. It grows to ten seconds while they arrive and nothing ' +
      'waits.',
    TIMER,
  ),
  lease: duration(
    RELAY.leaseMs,
    'How long rows that a relay took belong to it. Rows of a stopped relay become available after that.',
    TIMER,
  ),
};

/** `service_webhooks`: webhooks that the service sends to us. */
export const serviceWebhookSettings = {
  timestamp_tolerance: duration(
    TIMESTAMP.toleranceMs,
    'How far the timestamp of a delivery may be from our clock. The default is that of the specification; a ' +
      'shorter time refuses deliveries that it allows.',
    { min: MIN_TOLERANCE_MS, max: TIMESTAMP.toleranceMs },
  ),
  silence_window: duration(SILENCE.windowMs, 'Period in which changes are counted that webhooks should have reported.'),
  silence_reports: wholeNumber(
    SILENCE.reports,
    [1, 1_000],
    'Number of such changes without a webhook between them after which webhooks count as missing.',
  ),
  secret_overlap: duration(
    SECRET.overlapMs,
    'How long the former stored webhook secret stays valid after a rotation.',
    { max: MAX_WEBHOOK_SECRET_OVERLAP_MS },
  ),
};

/** `event_webhooks`: webhooks that we send to webhook endpoints. */
export const eventWebhookSettings = {
  deadline: duration(OUTBOUND.sendDeadlineMs, 'Total time for one try to deliver an event to a webhook endpoint.', {
    ...TIMER,
    max: MAX_OUTBOUND_DEADLINE_MS,
  }),
  lease: duration(OUTBOUND.leaseMs, 'How long such a try has the exclusive right to its delivery. More than deadline.'),
  retry_delay: duration(
    OUTBOUND.retryDelayMs,
    'First wait before a delivery is tried again; doubled each time, and varied by a fifth.',
    FIRST_WAIT,
  ),
  retry_delay_max: duration(OUTBOUND.retryDelayMaxMs, 'Longest such wait.'),
  retry_for: duration(OUTBOUND.retryForMs, 'How long one delivery is tried. Less than events.kept.'),
  probe_delay_max: duration(OUTBOUND.probeDelayMaxMs, 'Longest wait between tries of an endpoint that only fails.'),
  disable_after: duration(OUTBOUND.disableAfterMs, 'An endpoint without a success for this time is disabled.'),
  log_kept: duration(OUTBOUND.logKeptMs, 'How long finished deliveries are kept.'),
  secret_overlap: duration(
    OUTBOUND.secretOverlapMs,
    'How long the former secret of an endpoint still signs after a rotation.',
    { max: MAX_WEBHOOK_SECRET_OVERLAP_MS },
  ),
};

/** `events`: the feed of events. */
export const eventSettings = {
  kept: duration(
    SWEEP.eventsKeptMs,
    'How long events are kept for `GET /v1/events`; a cursor from before is refused with `410`. More than ' +
      'event_webhooks.retry_for, because an event that is no longer stored cannot be sent.',
  ),
};

/** `waiting`: callers that wait for an answer. */
export const waitingSettings = {
  max: duration(
    WAITING.maxMs,
    'The longest wait of a request (`Prefer: wait=N`, `?wait=N`). Choose less than the time-outs of your proxies.',
    { max: MAX_WAIT_MS },
  ),
  per_key: wholeNumber(
    WAITING.maxWaitingPerKey,
    [1, WAITING.maxWaiting],
    `Requests of one API key that may wait for an answer at a time in one API process. ${WAITING.maxWaiting} is the ` +
      'limit for all keys; a further request is answered immediately.',
  ),
};

/** `streams`: event streams. */
export const streamSettings = {
  per_key: wholeNumber(STREAMS.perKey, [1, 1_000], 'Event streams that one API key may hold open in one API process.'),
  heartbeat: duration(
    STREAMS.heartbeatMs,
    'How often a quiet event stream sends a heartbeat and checks its key.',
    TIMER,
  ),
};
