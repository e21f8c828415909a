import { chart, dashboard, number, p95, perSecond } from '#scripts/dashboards/panels.ts';

export const webhooks = dashboard(
  'webhooks',
  'webhooks and events',
  'Webhooks of the service that come in, and events that go out to webhook endpoints and streams.',
  [
    number(
      'Missed webhooks',
      'Changes that look-ups found although no webhook told of them. See WebhooksSilent in the runbook.',
      'short',
      'max(reseller_webhooks_missed)',
      1,
    ),
    number(
      'Refused webhooks per hour',
      'Wrong signature or time. Either the secret differs, or somebody tries to forge one. See WebhooksRefused.',
      'short',
      'sum(increase(reseller_webhook_deliveries_total' +
        '{result!~"accepted|duplicate|replayed|quarantined|conflict|header_disagrees"}[1h])) or vector(0)',
      10,
    ),
    number(
      'Relay is behind by',
      'Age of the oldest row that waits for the relay. See RelayBehind in the runbook.',
      's',
      'max(reseller_relay_lag_seconds)',
      45,
    ),
    number(
      'Deliveries that wait',
      'Deliveries of events to webhook endpoints that do not fail. See WebhooksBehind in the runbook.',
      'short',
      'max(reseller_outbound_pending{state="receiving"})',
      10_000,
    ),
    number(
      'Longest failing endpoint',
      'How long an enabled endpoint has accepted nothing. `reseller webhook-endpoints list` names it.',
      's',
      'max(reseller_outbound_failing_seconds)',
      3600,
    ),
    number(
      'Endpoints given up',
      'Endpoints that the product has disabled after days of failures. See WebhookEndpointGivenUp.',
      'short',
      'max(reseller_outbound_endpoints{state="given_up"})',
      1,
    ),
    chart('Webhooks of the service', 'Deliveries by answer.', 'cps', {
      '{{result}}': perSecond('reseller_webhook_deliveries_total', 'result'),
    }),
    chart('Rows of the relay', 'By queue and result.', 'cps', {
      '{{queue}} {{result}}': perSecond('reseller_relay_rows_total', 'queue, result'),
    }),
    chart('Delay of the relay', 'The 95th percentile from the storing of a row until it is handed over.', 's', {
      '{{queue}}': p95('reseller_relay_delay_seconds', 'queue'),
    }),
    chart('Oldest waiting row', 'By queue; 0 when none waits.', 's', {
      '{{queue}}': 'max by (queue) (reseller_relay_lag_seconds)',
    }),
    chart('Published events', 'By type.', 'cps', { '{{type}}': perSecond('reseller_events_total', 'type') }),
    chart('Deliveries to webhook endpoints', 'Tries by result, and their duration.', 'cps', {
      '{{result}}': perSecond('reseller_outbound_webhook_tries_total', 'result'),
    }),
    chart('Time of a delivery', 'The 95th percentile of a try.', 's', {
      try: p95('reseller_outbound_webhook_duration_seconds', ''),
    }),
    chart('Webhook endpoints', 'By state.', 'short', { '{{state}}': 'max by (state) (reseller_outbound_endpoints)' }),
    chart('Waiting deliveries', 'By the state of their endpoint.', 'short', {
      '{{state}}': 'max by (state) (reseller_outbound_pending)',
    }),
  ],
);
