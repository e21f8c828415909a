import { chart, dashboard, number, p95, perSecond } from '#scripts/dashboards/panels.ts';

const NO_ANSWER = 'outcome=~"timeout|connection_lost|server_error|unreadable_answer"';

export const service = dashboard(
  'service',
  'service',
  'The upstream reseller service: outcomes and duration of calls, circuits, contract drift and the catalogue.',
  [
    number(
      'Calls without failure',
      'The share of calls with the outcome `ok`. Refused purchases, such as for an empty wallet, count as failures.',
      'percentunit',
      `sum(rate(reseller_upstream_calls_total{outcome="ok"}[$__rate_interval]))
        / sum(rate(reseller_upstream_calls_total[$__rate_interval]))`,
    ),
    number(
      'Open circuits',
      'Circuits that stop purchases. `reseller gate show` says since when, and when the next try is.',
      'short',
      'sum(max by (circuit) (reseller_circuit_open))',
      1,
    ),
    number(
      'Unknown outcomes per hour',
      'Purchases whose answer did not arrive. Each is looked up and resolved; see PurchasesUnknown in the runbook.',
      'short',
      `sum(increase(reseller_upstream_calls_total{${NO_ANSWER}}[1h])) or vector(0)`,
    ),
    number(
      'Contract drift per hour',
      'Answers that the contract does not allow. See ContractDrift in the runbook.',
      'short',
      'sum(increase(reseller_upstream_calls_total{outcome="contract_drift"}[1h])) or vector(0)',
      1,
    ),
    number(
      'Age of the catalogue',
      'Time since packages and VPN plans were read. See CatalogueStale in the runbook.',
      's',
      'max(reseller_catalogue_age_seconds)',
      3600,
    ),
    number(
      'Suspicious catalogue',
      '1: a reading lacks many items and waits for the next one to confirm it.',
      'short',
      'max(reseller_catalogue_suspicious)',
      1,
    ),
    chart('Calls by outcome', 'The failure classes are in docs/reference/failures.md.', 'cps', {
      '{{outcome}}': perSecond('reseller_upstream_calls_total', 'outcome'),
    }),
    chart('Failures by endpoint', 'Calls with another outcome than `ok`.', 'cps', {
      // Some outcomes are counted from 0 on, for each endpoint.
      '{{endpoint}} {{outcome}}':
        perSecond('reseller_upstream_calls_total', 'endpoint, outcome', '{outcome!="ok"}') + ' > 0',
    }),
    chart('Time of calls', 'The 95th percentile by endpoint.', 's', {
      '{{endpoint}}': p95('reseller_upstream_call_duration_seconds', 'endpoint'),
    }),
    chart('Circuits', '1 while the circuit is not closed.', 'short', {
      '{{circuit}}': 'max by (circuit) (reseller_circuit_open)',
    }),
    chart('Calls by endpoint', 'Compare with the rate limit of the service, if it is known.', 'cps', {
      '{{endpoint}}': perSecond('reseller_upstream_calls_total', 'endpoint'),
    }),
    chart('Unreadable parts of answers', 'Ignored fields and dropped items by endpoint.', 'cps', {
      'field {{endpoint}} {{field}}': perSecond('reseller_upstream_unused_fields_total', 'endpoint, field'),
      'item {{endpoint}}': perSecond('reseller_upstream_dropped_items_total', 'endpoint'),
    }),
  ],
);
