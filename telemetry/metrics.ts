import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Every metric of the product, typed. Labels are closed sets (route patterns, endpoint names, states), never ids or
 * raw paths, so that the number of series stays bounded.
 */
export interface Metrics {
  /** Requests to our API. `route` is the pattern (`/v1/orders/{id}`), `unmatched` where there is none. */
  readonly httpRequests: Counter<'method' | 'route' | 'status'>;
  readonly httpDuration: Histogram<'method' | 'route'>;
  /** Calls to the service. `endpoint` is the name in the contract, `outcome` is `ok` or a failure class. */
  readonly upstreamCalls: Counter<'endpoint' | 'outcome'>;
  readonly upstreamDuration: Histogram<'endpoint'>;
  /**
   * Optional fields of answers that could not be used. `field` is a name of the contract, such as `data[].countries`.
   */
  readonly upstreamUnused: Counter<'endpoint' | 'field'>;
  /** Items of the service's lists that could not be read. */
  readonly upstreamDropped: Counter<'endpoint'>;
  /**
   * Webhook deliveries by what was answered: `accepted`, `duplicate`, `quarantined` or the reason of the refusal;
   * `conflict` and `header_disagrees` come on top.
   */
  readonly webhookDeliveries: Counter<'result'>;
  /** Rows the relay took, by `queue` (`inbox`, `outbox`, `endpoints`) and `result`. */
  readonly relayRows: Counter<'queue' | 'result'>;
  /** Age of the oldest row that waits for the relay, in seconds; 0 when none does. */
  readonly relayLag: Gauge<'queue'>;
  /** From the moment a row was due to its hand-over to Temporal, in seconds. */
  readonly relayDelay: Histogram<'queue'>;
  /** Seconds since Temporal last answered this worker; 0 while it answers. */
  readonly temporalUnreachable: Gauge;
  /** Events that were announced to internal systems. */
  readonly events: Counter<'type'>;
  /** Tries to deliver events to webhook endpoints. `result` is `delivered` or `failed`. */
  readonly outboundTries: Counter<'result'>;
  readonly outboundDuration: Histogram;
  /** Webhook endpoints by how they do: `receiving`, `failing`, `disabled` (by request), `given_up` (by us). */
  readonly outboundEndpoints: Gauge<'state'>;
  /** Deliveries that wait. */
  readonly outboundPending: Gauge;
  /** How long the longest-failing endpoint that is still enabled has had no success, in seconds; 0 when none fails. */
  readonly outboundFailing: Gauge;
  /** Callers that wait at this moment: for an `answer`, or for events on a `stream`. */
  readonly waiting: Gauge<'for'>;
  /** Orders by status, unfinished ones only where counting all would be costly. */
  readonly work: Gauge<'kind' | 'status'>;
  /**
   * How long the unfinished work that has not changed for longest has stood in a status, in seconds; 0 where there is
   * none.
   */
  readonly workOldest: Gauge<'kind' | 'status'>;
  /** Open cases: what waits for a person. */
  readonly casesOpen: Gauge<'reason'>;
  /** What the newest comparison of our books with the service's wallet found. */
  readonly booksFindings: Gauge<'kind'>;
  /** Age of the newest comparison that could be made, in seconds; 0 before the first. */
  readonly booksAge: Gauge;
  /** Balance of the wallet at the newest comparison; for people to look at, never to reckon with. */
  readonly walletBalance: Gauge<'currency'>;
  /** News found by asking since webhooks stopped to arrive; 0 while they arrive. */
  readonly webhooksMissed: Gauge;
  /** 1 while a circuit of the service is not closed, else 0. */
  readonly circuitOpen: Gauge<'circuit'>;
  /** Purchases held at the gate, by what they are held for. */
  readonly gateHeld: Gauge<'failure_class'>;
  /** Pauses of buying in force. */
  readonly gatePauses: Gauge;
  /** What of the wallet is left beside reservations, as it was last read for a purchase. */
  readonly walletAvailable: Gauge<'currency'>;
  /** 1 while the balance is below POLICY_LOW_BALANCE, else 0. */
  readonly walletLow: Gauge;
  /** How many days the wallet lasts at the pace of recent sales; no value while that is not known. */
  readonly runwayDays: Gauge;
  /** 1 while that is below POLICY_RUNWAY_LOW, else 0. */
  readonly runwayLow: Gauge;
  /** Refreshes that failed; their gauges then show old values. */
  readonly refreshFailures: Counter;
  /** Runs before every render, to set gauges from the database. A failure is counted and leaves the rest readable. */
  refreshWith(refresh: () => Promise<void>): void;
  /** The exposition text for `/metrics`. */
  render(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Seconds. Database work takes milliseconds, a purchase at the service up to its deadline of 20 s. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30];

/**
 * Makes the metrics on a registry of their own, so that two of them live side by side in one process.
 *
 * @param options.processMetrics also measure memory, CPU, event loop and garbage collection; default true.
 */
export function createMetrics(options: { readonly processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (options.processMetrics !== false) collectDefaultMetrics({ register: registry });

  const refreshes: (() => Promise<void>)[] = [];
  const refreshFailures = new Counter({
    name: 'reseller_metrics_refresh_failures_total',
    help: 'Refreshes of gauges that failed; those gauges show old values.',
    registers,
  });

  return {
    httpRequests: new Counter({
      name: 'reseller_http_requests_total',
      help: 'Requests to the API by method, route pattern and status.',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    httpDuration: new Histogram({
      name: 'reseller_http_request_duration_seconds',
      help: 'Time from request to answer.',
      labelNames: ['method', 'route'],
      buckets: DURATION_BUCKETS,
      registers,
    }),
    upstreamCalls: new Counter({
      name: 'reseller_upstream_calls_total',
      help: 'Calls to the service by endpoint and outcome (ok or failure class).',
      labelNames: ['endpoint', 'outcome'],
      registers,
    }),
    upstreamDuration: new Histogram({
      name: 'reseller_upstream_call_duration_seconds',
      help: 'Time of a call to the service, from sending to the outcome.',
      labelNames: ['endpoint'],
      buckets: DURATION_BUCKETS,
      registers,
    }),
    upstreamUnused: new Counter({
      name: 'reseller_upstream_unused_fields_total',
      help: 'Fields of answers of the service that could not be used, by endpoint and field.',
      labelNames: ['endpoint', 'field'],
      registers,
    }),
    upstreamDropped: new Counter({
      name: 'reseller_upstream_dropped_items_total',
      help: 'Items of lists of the service that could not be read, by endpoint.',
      labelNames: ['endpoint'],
      registers,
    }),
    webhookDeliveries: new Counter({
      name: 'reseller_webhook_deliveries_total',
      help: 'Deliveries of the service by result.',
      labelNames: ['result'],
      registers,
    }),
    relayRows: new Counter({
      name: 'reseller_relay_rows_total',
      help: 'Rows taken by the relay, by queue and result.',
      labelNames: ['queue', 'result'],
      registers,
    }),
    relayLag: new Gauge({
      name: 'reseller_relay_lag_seconds',
      help: 'Age of the oldest row waiting for the relay.',
      labelNames: ['queue'],
      registers,
    }),
    relayDelay: new Histogram({
      name: 'reseller_relay_delay_seconds',
      help: 'Time from when a row was due until it was handed over.',
      labelNames: ['queue'],
      buckets: DURATION_BUCKETS,
      registers,
    }),
    temporalUnreachable: new Gauge({
      name: 'reseller_temporal_unreachable_seconds',
      help: 'Time since Temporal last answered this worker; 0 while it answers.',
      registers,
    }),
    events: new Counter({
      name: 'reseller_events_total',
      help: 'Events announced to internal systems, by type.',
      labelNames: ['type'],
      registers,
    }),
    outboundTries: new Counter({
      name: 'reseller_outbound_webhook_tries_total',
      help: 'Tries to deliver events to webhook endpoints, by result.',
      labelNames: ['result'],
      registers,
    }),
    outboundDuration: new Histogram({
      name: 'reseller_outbound_webhook_duration_seconds',
      help: 'Time of a try to deliver an event.',
      buckets: DURATION_BUCKETS,
      registers,
    }),
    outboundEndpoints: new Gauge({
      name: 'reseller_outbound_endpoints',
      help: 'Webhook endpoints by state: receiving, failing, disabled (by request), given_up (by us).',
      labelNames: ['state'],
      registers,
    }),
    outboundPending: new Gauge({
      name: 'reseller_outbound_pending',
      help: 'Deliveries of events that wait.',
      registers,
    }),
    outboundFailing: new Gauge({
      name: 'reseller_outbound_failing_seconds',
      help: 'How long the longest-failing webhook endpoint that is enabled has had no success; 0 when none fails.',
      registers,
    }),
    waiting: new Gauge({
      name: 'reseller_waiting',
      help: 'Callers that wait at this moment, for an answer or on an event stream.',
      labelNames: ['for'],
      registers,
    }),
    work: new Gauge({
      name: 'reseller_work',
      help: 'Unfinished work by kind (order, topup, …) and status.',
      labelNames: ['kind', 'status'],
      registers,
    }),
    workOldest: new Gauge({
      name: 'reseller_work_oldest_seconds',
      help: 'Time since the last change of the unfinished work that has not changed for longest, by kind and status.',
      labelNames: ['kind', 'status'],
      registers,
    }),
    casesOpen: new Gauge({
      name: 'reseller_cases_open',
      help: 'Open cases by reason.',
      labelNames: ['reason'],
      registers,
    }),
    booksFindings: new Gauge({
      name: 'reseller_books_findings',
      help: 'Findings of the newest comparison of our books with the wallet, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    booksAge: new Gauge({
      name: 'reseller_books_age_seconds',
      help: 'Age of the newest comparison of our books with the wallet that could be made.',
      registers,
    }),
    walletBalance: new Gauge({
      name: 'reseller_wallet_balance',
      help: 'Balance of the wallet at the newest comparison.',
      labelNames: ['currency'],
      registers,
    }),
    webhooksMissed: new Gauge({
      name: 'reseller_webhooks_missed',
      help: 'News found by asking since webhooks stopped to arrive; 0 while they arrive.',
      registers,
    }),
    circuitOpen: new Gauge({
      name: 'reseller_circuit_open',
      help: '1 while purchases are held because of a condition of the service as a whole, by condition.',
      labelNames: ['circuit'],
      registers,
    }),
    gateHeld: new Gauge({
      name: 'reseller_gate_held',
      help: 'Purchases held at the purchase gate, by failure class.',
      labelNames: ['failure_class'],
      registers,
    }),
    gatePauses: new Gauge({ name: 'reseller_gate_pauses', help: 'Pauses of buying in force.', registers }),
    walletAvailable: new Gauge({
      name: 'reseller_wallet_available',
      help: 'Balance of the wallet beside what is reserved, as last read for a purchase.',
      labelNames: ['currency'],
      registers,
    }),
    walletLow: new Gauge({
      name: 'reseller_wallet_low',
      help: '1 while the balance is below POLICY_LOW_BALANCE.',
      registers,
    }),
    runwayDays: new Gauge({
      name: 'reseller_wallet_runway_days',
      help: 'How many days the wallet lasts at the pace of recent sales; absent while that is not known.',
      registers,
    }),
    runwayLow: new Gauge({
      name: 'reseller_wallet_runway_low',
      help: '1 while the wallet lasts shorter than POLICY_RUNWAY_LOW.',
      registers,
    }),
    refreshFailures,
    refreshWith(refresh) {
      refreshes.push(refresh);
    },
    async render() {
      const outcomes = await Promise.allSettled(refreshes.map(async (refresh) => refresh()));
      refreshFailures.inc(outcomes.filter(({ status }) => status === 'rejected').length);
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}
