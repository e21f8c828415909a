/** For tests that count requests. The waits are so long that a busy machine does not time a request out. */
export const NORMAL_WAITS_POLICY = {
  'purchase.send_deadline': '15s',
  'purchase.send_lease': '18s',
  'purchase.send_activity_timeout': '40s',
} as const;

/** Work held as `package_unavailable` stays held until an operator acts. */
export const UNSOLD_STAYS_HELD = {
  'retry.rules': { package_unavailable: { first_delay: '10m', max_delay: '1h' } },
} as const;

/** For tests that need neither sweeper nor reconciler. Run every second, the two use a fifth of a core. */
export const RARE_UPKEEP = { 'sweeper.every': '1h', 'reconciler.every': '1h' } as const;

/**
 * Waits that are short enough for tests. The invariants do not depend on them. The resend window keeps its length: a
 * busy machine needs more than a minute to restore a database, and a send from before would not be repeated.
 */
export const SHORT_POLICY = {
  'purchase.send_deadline': '3s',
  'purchase.send_lease': '5s',
  'purchase.send_activity_timeout': '8s',
  'purchase.resend_delay': '200ms',
  'retry.hold_delay': '300ms',
  'retry.hold_deadline': '5m',
  'purchase.settle_delay': '300ms',
  'purchase.unseen_debit_delay': '300ms',
  'cancellation.refund_grace': '1s',
  'retry.attempt_delay': '200ms',
  'reconciler.silent_after': '2s',
  'reconciler.every': '1s',
  'relay.poll': '500ms',
  'relay.lease': '5s',
  'sweeper.every': '1s',
  'sweeper.idle_after': '2s',
  'gate.balance_age': '2s',
  'gate.balance_trust': '200ms',
  'gate.price_age': '1s',
  'gate.circuit_probe_delay': '300ms',
  'gate.circuit_probe_delay_max': '1s',
  'gate.releases_per_second': 50,
  'gate.tick': '200ms',
  'gate.first_purchase_check_every': '200ms',
  'event_webhooks.deadline': '3s',
  'event_webhooks.lease': '4s',
  'event_webhooks.retry_delay': '200ms',
  'event_webhooks.probe_delay_max': '2s',
} as const;
