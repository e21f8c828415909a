import { chart, dashboard, number, p95, perSecond, quantile } from '#scripts/dashboards/panels.ts';

const DELIVERED = 'kind=~"order|topup",result="completed"';
/** Probes and scrapes are no requests of callers. */
const REQUESTS = 'route!~"/healthz|/readyz|/metrics"';

export const fulfilment = dashboard(
  'fulfilment',
  'fulfilment',
  'Orders, top-ups, cancellations and VPN subscriptions: what is accepted, what ends, and what waits for a person.',
  [
    number(
      'Open cases',
      'Cases that a person must decide. `reseller cases list` shows them; the runbook has a section for each reason.',
      'short',
      'sum(max by (reason) (reseller_cases_open)) or vector(0)',
      1,
    ),
    number(
      'Held purchases',
      'Purchases that the gate holds back. The dashboard "money" shows the cause.',
      'short',
      'sum(max by (kind) (reseller_work{status="held"})) or vector(0)',
      20,
    ),
    number(
      'Needs attention',
      'Work whose workflow waits for the decision of a person. `reseller cases list` names the possible verdicts.',
      'short',
      'sum(max by (kind) (reseller_work{status="needs_attention"})) or vector(0)',
      1,
    ),
    number(
      'Oldest accepted work',
      'Accepted work whose workflow has not started. It normally takes less than a second.',
      's',
      'max(reseller_work_not_started_seconds) or vector(0)',
      300,
    ),
    number(
      'Answers of the API without 5xx',
      'The share of requests that the API answered without a server error. AcceptanceObjective is the alert.',
      'percentunit',
      `1 - (sum(rate(reseller_http_requests_total{${REQUESTS},status=~"5.."}[$__rate_interval])) or vector(0))` +
        ` / sum(rate(reseller_http_requests_total{${REQUESTS}}[$__rate_interval]))`,
    ),
    number(
      'Delivered within 5 minutes',
      'The share of completed orders and top-ups that took less than 5 minutes. The objective is in DeliveryObjective.',
      'percentunit',
      // Prometheus 3 writes the bucket 300 as 300.0.
      `sum(rate(reseller_work_duration_seconds_bucket{${DELIVERED},le=~"300(\\\\.0)?"}[$__rate_interval]))` +
        ` / sum(rate(reseller_work_duration_seconds_count{${DELIVERED}}[$__rate_interval]))`,
    ),
    chart('Work that ended', 'By kind and result.', 'cps', {
      '{{kind}} {{result}}': perSecond('reseller_work_duration_seconds_count', 'kind, result'),
    }),
    chart('Unfinished work', 'By kind and status. Active VPN subscriptions are left out.', 'short', {
      '{{kind}} {{status}}': 'max by (kind, status) (reseller_work{status!="active"}) > 0',
    }),
    chart('From acceptance to completion', 'The 95th percentile by kind, and the median of orders.', 's', {
      '{{kind}} p95': p95('reseller_work_duration_seconds', 'kind'),
      'order p50': quantile(0.5, 'reseller_work_duration_seconds', '', '{kind="order"}'),
    }),
    chart('Oldest unfinished work', 'Time since the last change, by kind and status. A refund may take days.', 's', {
      '{{kind}} {{status}}': 'max by (kind, status) (reseller_work_oldest_seconds{status!="active"}) > 0',
    }),
    chart('Requests to the API', 'By status.', 'cps', {
      '{{status}}': perSecond('reseller_http_requests_total', 'status'),
    }),
    chart('Time of requests', 'The 95th percentile by route. Requests that wait (Prefer: wait) are included.', 's', {
      '{{method}} {{route}}': p95('reseller_http_request_duration_seconds', 'method,route'),
    }),
    chart('Open cases by reason', 'The runbook has a section for each reason.', 'short', {
      '{{reason}}': 'max by (reason) (reseller_cases_open)',
    }),
    chart('Callers that wait', 'For an answer, or on a stream of events.', 'short', {
      '{{for}}': 'sum by (for) (reseller_waiting)',
    }),
  ],
);
