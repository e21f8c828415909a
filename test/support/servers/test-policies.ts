/** Policies for stacks of tests. */
/** For tests that count requests. The waits are so long that a busy machine does not time a request out. */
export const NORMAL_WAITS_POLICY = {
  POLICY_SEND_DEADLINE: '15s',
  POLICY_SEND_LEASE: '18s',
  POLICY_SEND_ACTIVITY_TIMEOUT: '40s',
  POLICY_RESEND_WINDOW: '10m',
} as const;

/** Work held as `package_unavailable` stays held until an operator acts. */
export const UNSOLD_STAYS_HELD = {
  POLICY_RETRY_RULES: JSON.stringify({ package_unavailable: { first_delay: '10m', max_delay: '1h' } }),
} as const;

/** For tests that need neither sweeper nor reconciler. Run every second, the two use a fifth of a core. */
export const RARE_UPKEEP = { POLICY_SWEEP_EVERY: '1h', POLICY_RECONCILE_EVERY: '1h' } as const;

/** Waits that are short enough for tests. The invariants do not depend on them. */
export const SHORT_POLICY = {
  POLICY_SEND_DEADLINE: '3s',
  POLICY_SEND_LEASE: '5s',
  POLICY_SEND_ACTIVITY_TIMEOUT: '8s',
  POLICY_RESEND_WINDOW: '60s',
  POLICY_RESEND_DELAY: '200ms',
  POLICY_HOLD_DELAY: '300ms',
  POLICY_HOLD_DEADLINE: '5m',
  POLICY_SETTLE_DELAY: '300ms',
  POLICY_REFUND_GRACE: '1s',
  POLICY_ATTEMPT_DELAY: '200ms',
  POLICY_SILENT_AFTER: '2s',
  POLICY_RECONCILE_EVERY: '1s',
  POLICY_RELAY_POLL: '500ms',
  POLICY_RELAY_LEASE: '5s',
  POLICY_SWEEP_EVERY: '1s',
  POLICY_SWEEP_IDLE_AFTER: '2s',
  POLICY_BALANCE_AGE: '2s',
  POLICY_BALANCE_TRUST: '200ms',
  POLICY_PRICE_AGE: '1s',
  POLICY_CIRCUIT_PROBE_DELAY: '300ms',
  POLICY_CIRCUIT_PROBE_DELAY_MAX: '1s',
  POLICY_RELEASES_PER_SECOND: '50',
  POLICY_GATE_TICK: '200ms',
  POLICY_FIRST_PURCHASE_CHECK_EVERY: '200ms',
  POLICY_OUTBOUND_DEADLINE: '3s',
  POLICY_OUTBOUND_LEASE: '4s',
  POLICY_OUTBOUND_RETRY_DELAY: '200ms',
  POLICY_OUTBOUND_PROBE_DELAY_MAX: '2s',
} as const;
