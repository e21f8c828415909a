import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { joined, within } from '#telemetry/waiting.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** Seconds, up to the deadline of a purchase of 20 s. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30];

/** Seconds: a fraction for an order, hours for held work, days for a refund. */
const WORK_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400, 604_800];

/** Sums of prom-client with the ending of a counter, which `promtool check metrics` reports. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Half the time that Prometheus waits for a scrape. */
const REFRESH_LIMIT_MS = 5_000;

/** Labels are closed sets, never ids or raw paths, so that the number of series is bounded. */
export function createMetrics(options: { readonly processMetrics?: boolean; readonly refreshLimitMs?: number } = {}) {
  const { refreshLimitMs = REFRESH_LIMIT_MS } = options;
  const registry = new Registry();
  if (options.processMetrics !== false) {
    collectDefaultMetrics({ register: registry });
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }
  const refreshes: (() => Promise<void>)[] = [];
  const others: (() => Promise<string>)[] = [];
  const metrics = allMetrics(registry);
  return {
    ...metrics,
    /** Sets gauges before every render. Its failure is counted and does not prevent the render. */
    refreshWith(refresh: () => Promise<void>): void {
      refreshes.push(limited(refresh, refreshLimitMs));
    },
    /** A failure to read them is counted as one of a refresh. */
    renderAlso(read: () => Promise<string>): void {
      others.push(limited(read, refreshLimitMs));
    },
    async render(): Promise<{ readonly contentType: string; readonly body: string }> {
      const [outcomes, also] = await Promise.all([
        Promise.allSettled(refreshes.map((refresh) => refresh())),
        Promise.allSettled(others.map((read) => read())),
      ]);
      metrics.refreshFailures.inc([...outcomes, ...also].filter(({ status }) => status === 'rejected').length);
      const texts = also.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      return { contentType: registry.contentType, body: [await registry.metrics(), ...texts].join('') };
    },
  };
}

/** A scrape is answered while PostgreSQL hangs. It joins a running reading: else scrapes would take all connections. */
function limited<Value>(read: () => Promise<Value>, limitMs: number): () => Promise<Value> {
  const reading = joined(read);
  return () => within(limitMs, reading);
}

function makers(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <Label extends string>(name: string, help: string, labelNames: Label[]) =>
      new Gauge({ name, help, labelNames, registers }),
    /** 0 would be false in a process that never sets the gauge. */
    unsetGauge: (name: string, help: string) => {
      const gauge = new Gauge({ name, help, registers });
      gauge.remove();
      return gauge;
    },
    histogram: <Label extends string = never>(
      name: string,
      help: string,
      labelNames: Label[] = [],
      buckets = DURATION_BUCKETS,
    ) => new Histogram({ name, help, labelNames, buckets, registers }),
  };
}

function allMetrics(registry: Registry) {
  const { counter, gauge, unsetGauge, histogram } = makers(registry);
  return {
    refreshFailures: counter(
      'reseller_metrics_refresh_failures_total',
      'Refreshes of gauges that failed or took too long; those gauges show old values.',
    ),
    /** `route` is the pattern, or `unmatched`. */
    httpRequests: counter('reseller_http_requests_total', 'Requests to the API by method, route pattern and status.', [
      'method',
      'route',
      'status',
    ]),
    httpDuration: histogram('reseller_http_request_duration_seconds', 'Time from request to answer.', [
      'method',
      'route',
    ]),
    upstreamCalls: counter(
      'reseller_upstream_calls_total',
      'Calls to the service by endpoint and outcome (ok or failure class).',
      ['endpoint', 'outcome'],
    ),
    upstreamDuration: histogram(
      'reseller_upstream_call_duration_seconds',
      'Time of a call to the service, from sending to the outcome.',
      ['endpoint'],
    ),
    upstreamUnused: counter(
      'reseller_upstream_unused_fields_total',
      'Fields of answers of the service that could not be used, by endpoint and field.',
      ['endpoint', 'field'],
    ),
    upstreamDropped: counter(
      'reseller_upstream_dropped_items_total',
      'Items of lists of the service that could not be read, by endpoint.',
      ['endpoint'],
    ),
    /** `conflict` and `header_disagrees` are counted in addition. */
    webhookDeliveries: counter('reseller_webhook_deliveries_total', 'Deliveries of the service by result.', ['result']),
    relayRows: counter('reseller_relay_rows_total', 'Rows processed by the relay, by queue and result.', [
      'queue',
      'result',
    ]),
    /** 0 when none waits. */
    relayLag: gauge('reseller_relay_lag_seconds', 'Age of the oldest row waiting for the relay.', ['queue']),
    relayDelay: histogram(
      'reseller_relay_delay_seconds',
      'Time from when a row was due until it was passed to Temporal.',
      ['queue'],
    ),
    /** At most since the start of this worker. */
    temporalUnreachable: unsetGauge(
      'reseller_temporal_unreachable_seconds',
      'Time since Temporal last answered this worker; 0 while it answers.',
    ),
    events: counter('reseller_events_total', 'Events announced to internal systems, by type.', ['type']),
    outboundTries: counter(
      'reseller_outbound_webhook_tries_total',
      'Tries to deliver events to webhook endpoints, by result.',
      ['result'],
    ),
    outboundDuration: histogram('reseller_outbound_webhook_duration_seconds', 'Time of a try to deliver an event.'),
    outboundEndpoints: gauge(
      'reseller_outbound_endpoints',
      'Webhook endpoints by state: receiving, failing, disabled (by request), given_up (by us).',
      ['state'],
    ),
    outboundPending: gauge(
      'reseller_outbound_pending',
      'Deliveries of events that wait, by the state of their endpoint.',
      ['state'],
    ),
    outboundFailing: unsetGauge(
      'reseller_outbound_failing_seconds',
      'Time without success of the enabled webhook endpoint that has failed for longest; 0 when none fails.',
    ),
    waiting: gauge('reseller_waiting', 'Callers that wait now, for an answer or on an event stream.', ['for']),
    booksFindings: gauge(
      'reseller_books_findings',
      'Findings of the newest comparison of our books with the wallet, by kind.',
      ['kind'],
    ),
    /** 0 before the first. */
    booksAge: unsetGauge(
      'reseller_books_age_seconds',
      'Age of the newest successful comparison of our books with the wallet.',
    ),
    /** For display only: a gauge is not exact. */
    walletBalance: gauge('reseller_wallet_balance', 'Balance of the wallet at the newest comparison.', ['currency']),
    webhooksMissed: unsetGauge(
      'reseller_webhooks_missed',
      'Reports found by look-ups since webhooks stopped arriving; 0 while they arrive.',
    ),
    rowsOverdue: gauge(
      'reseller_rows_overdue_seconds',
      'How long the oldest row has been due for deletion, by table; 0 when none is due.',
      ['table'],
    ),
    workDuration: histogram(
      'reseller_work_duration_seconds',
      'Time from the acceptance of work until it was completed, or ended without effect, by kind and result.',
      ['kind', 'result'],
      WORK_BUCKETS,
    ),
    /** No value before the first reading. */
    catalogueAge: gauge('reseller_catalogue_age_seconds', 'Time since the stored catalogue was read.', ['catalogue']),
    catalogueSuspicious: gauge(
      'reseller_catalogue_suspicious',
      '1 while a reading that lacks many items of the catalogue waits for its confirmation, else 0.',
      ['catalogue'],
    ),
    work: gauge('reseller_work', 'Unfinished work by kind (order, topup, …) and status.', ['kind', 'status']),
    workOldest: gauge(
      'reseller_work_oldest_seconds',
      'Longest time without a change among unfinished work, by kind and status.',
      ['kind', 'status'],
    ),
    workNotStarted: gauge(
      'reseller_work_not_started_seconds',
      'Longest time since acceptance among work without an attempt, by kind: its workflow has not begun.',
      ['kind'],
    ),
    workHeld: gauge(
      'reseller_work_held_seconds',
      'Longest time since acceptance among held work, by kind, without work that a pause holds.',
      ['kind'],
    ),
    casesOpen: gauge('reseller_cases_open', 'Open cases by reason.', ['reason']),
    circuitOpen: gauge(
      'reseller_circuit_open',
      '1 while purchases are held because of a condition of the service as a whole, by condition.',
      ['circuit'],
    ),
    gateHeld: gauge(
      'reseller_gate_held',
      'Purchases held at the gate, by failure class and barrier (circuit, pause, drift, spend_limit, wallet).',
      ['failure_class', 'barrier'],
    ),
    gatePauses: unsetGauge('reseller_gate_pauses', 'Active pauses of buying.'),
    gatePaused: gauge('reseller_gate_paused', '1 while all purchases of the kind are paused.', ['kind']),
    driftStop: gauge(
      'reseller_drift_stop',
      '1 while a product is held, or one purchase goes first, because a paid delivery could not be used; 2 while ' +
        'the whole kind is stopped.',
      ['kind'],
    ),
    driftParked: gauge('reseller_drift_parked', 'Purchases that are paid and whose delivery could not be used.', [
      'kind',
    ]),
    walletAvailable: gauge(
      'reseller_wallet_available',
      'Balance of the wallet less reservations, at the last read for a purchase.',
      ['currency'],
    ),
    walletLow: unsetGauge('reseller_wallet_low', '1 while the balance is below wallet.low_balance.'),
    runwaySeconds: unsetGauge(
      'reseller_wallet_runway_seconds',
      'Time that the wallet lasts at the rate of recent sales; absent while unknown.',
    ),
    runwayLow: unsetGauge('reseller_wallet_runway_low', '1 while the wallet lasts shorter than wallet.runway_low.'),
  };
}
