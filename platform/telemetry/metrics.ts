import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { gateMetrics, type GateMetrics } from '#telemetry/gate-metrics.ts';
import { TimedReading } from '#telemetry/timed-reading.ts';
import { unsetGauge } from '#telemetry/unset-gauge.ts';
import { workMetrics, type WorkMetrics } from '#telemetry/work-metrics.ts';

/**
 * All metrics of the product. Labels are closed sets (route patterns, endpoint names, states), never ids or raw paths,
 * so that the number of series is bounded.
 */
export interface Metrics extends WorkMetrics, GateMetrics {
  /** Requests to our API. `route` is the pattern (`/v1/orders/{id}`), or `unmatched`. */
  readonly httpRequests: Counter<'method' | 'route' | 'status'>;
  readonly httpDuration: Histogram<'method' | 'route'>;
  /** Calls to the service. `endpoint` is the name in the contract, `outcome` is `ok` or a failure class. */
  readonly upstreamCalls: Counter<'endpoint' | 'outcome'>;
  readonly upstreamDuration: Histogram<'endpoint'>;
  /** Unusable optional fields of answers. `field` is a name of the contract, such as `data[].countries`. */
  readonly upstreamUnused: Counter<'endpoint' | 'field'>;
  /** Items of the service's lists that could not be read. */
  readonly upstreamDropped: Counter<'endpoint'>;
  /**
   * Webhook deliveries by answer: `accepted`, `duplicate`, `quarantined` or the reason of the refusal. `conflict` and
   * `header_disagrees` are counted in addition.
   */
  readonly webhookDeliveries: Counter<'result'>;
  /** Rows that the relay has processed, by `queue` (`inbox`, `outbox`, `endpoints`) and `result`. */
  readonly relayRows: Counter<'queue' | 'result'>;
  /** Age of the oldest row that waits for the relay, in seconds; 0 when none waits. */
  readonly relayLag: Gauge<'queue'>;
  /** Time from when a row was due until it was passed to Temporal, in seconds. */
  readonly relayDelay: Histogram<'queue'>;
  /** Seconds since Temporal last answered this worker, at most since its start; 0 while it answers. */
  readonly temporalUnreachable: Gauge;
  /** Events that were announced to internal systems. */
  readonly events: Counter<'type'>;
  /** Tries to deliver events to webhook endpoints. `result` is `delivered` or `failed`. */
  readonly outboundTries: Counter<'result'>;
  readonly outboundDuration: Histogram;
  /** Webhook endpoints by state: `receiving`, `failing`, `disabled` (by request), `given_up` (by us). */
  readonly outboundEndpoints: Gauge<'state'>;
  /** Deliveries of events that wait, by the state of their endpoint. */
  readonly outboundPending: Gauge<'state'>;
  /** Time without success of the enabled endpoint that has failed for longest, in seconds; 0 when none fails. */
  readonly outboundFailing: Gauge;
  /** Callers that wait now: for an `answer`, or for events on a `stream`. */
  readonly waiting: Gauge<'for'>;
  /** Findings of the newest comparison of our books with the service's wallet. */
  readonly booksFindings: Gauge<'kind'>;
  /** Age of the newest successful comparison, in seconds; 0 before the first. */
  readonly booksAge: Gauge;
  /** Balance of the wallet at the newest comparison. For display only: a gauge is not exact. */
  readonly walletBalance: Gauge<'currency'>;
  /** Reports found by look-ups since webhooks stopped arriving; 0 while they arrive. */
  readonly webhooksMissed: Gauge;
  /** How long the oldest row has been due for deletion, in seconds, by table. */
  readonly rowsOverdue: Gauge<'table'>;
  /** Refreshes of gauges that failed or took too long; these gauges then show old values. */
  readonly refreshFailures: Counter;
  /** Adds a function that sets gauges before every render. Its failure is counted and does not prevent the render. */
  refreshWith(refresh: () => Promise<void>): void;
  /** Adds metrics that another part of the process renders. A failure to read them is counted as one of a refresh. */
  renderAlso(read: () => Promise<string>): void;
  /** The exposition text for `/metrics`. */
  render(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Seconds. Database work takes milliseconds, a purchase at the service up to its deadline of 20 s. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30];

/**
 * Gauges of prom-client with the ending of a counter, which `promtool check metrics` reports. They are the sums of
 * `nodejs_active_handles` and so on, by type.
 */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Half the time that Prometheus waits for a scrape (10 s by default). */
const REFRESH_LIMIT_MS = 5_000;

/**
 * Creates the metrics on their own registry, so that one process can have several.
 *
 * @param options.processMetrics also measure memory, CPU, event loop and garbage collection; default true.
 * @param options.refreshLimitMs time limit of a refresh before a render.
 */
export function createMetrics(
  options: { readonly processMetrics?: boolean; readonly refreshLimitMs?: number } = {},
): Metrics {
  const { refreshLimitMs = REFRESH_LIMIT_MS } = options;
  const registry = new Registry();
  const registers = [registry];
  if (options.processMetrics !== false) {
    collectDefaultMetrics({ register: registry });
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }

  const refreshes: TimedReading<void>[] = [];
  const others: TimedReading<string>[] = [];
  const refreshFailures = new Counter({
    name: 'reseller_metrics_refresh_failures_total',
    help: 'Refreshes of gauges that failed or took too long; those gauges show old values.',
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
      help: 'Rows processed by the relay, by queue and result.',
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
      help: 'Time from when a row was due until it was passed to Temporal.',
      labelNames: ['queue'],
      buckets: DURATION_BUCKETS,
      registers,
    }),
    temporalUnreachable: unsetGauge({
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
      help: 'Deliveries of events that wait, by the state of their endpoint.',
      labelNames: ['state'],
      registers,
    }),
    outboundFailing: unsetGauge({
      name: 'reseller_outbound_failing_seconds',
      help: 'Time without success of the enabled webhook endpoint that has failed for longest; 0 when none fails.',
      registers,
    }),
    waiting: new Gauge({
      name: 'reseller_waiting',
      help: 'Callers that wait now, for an answer or on an event stream.',
      labelNames: ['for'],
      registers,
    }),
    booksFindings: new Gauge({
      name: 'reseller_books_findings',
      help: 'Findings of the newest comparison of our books with the wallet, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    booksAge: unsetGauge({
      name: 'reseller_books_age_seconds',
      help: 'Age of the newest successful comparison of our books with the wallet.',
      registers,
    }),
    walletBalance: new Gauge({
      name: 'reseller_wallet_balance',
      help: 'Balance of the wallet at the newest comparison.',
      labelNames: ['currency'],
      registers,
    }),
    webhooksMissed: unsetGauge({
      name: 'reseller_webhooks_missed',
      help: 'Reports found by look-ups since webhooks stopped arriving; 0 while they arrive.',
      registers,
    }),
    rowsOverdue: new Gauge({
      name: 'reseller_rows_overdue_seconds',
      help: 'How long the oldest row has been due for deletion, by table; 0 when none is due.',
      labelNames: ['table'],
      registers,
    }),
    ...workMetrics(registers),
    ...gateMetrics(registers),
    refreshFailures,
    refreshWith(refresh) {
      refreshes.push(new TimedReading(refresh, refreshLimitMs));
    },
    renderAlso(read) {
      others.push(new TimedReading(read, refreshLimitMs));
    },
    async render() {
      const [outcomes, also] = await Promise.all([
        Promise.allSettled(refreshes.map((each) => each.value())),
        Promise.allSettled(others.map((each) => each.value())),
      ]);
      refreshFailures.inc([...outcomes, ...also].filter(({ status }) => status === 'rejected').length);
      const texts = also.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      return { contentType: registry.contentType, body: [await registry.metrics(), ...texts].join('') };
    },
  };
}
