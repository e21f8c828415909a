import type { PolicySettings } from '#config/policy/policy-settings.ts';
import { DEFAULT_POLICY, type Policy } from '#domain/policy/policy.ts';
import type { RunwayPolicy } from '#domain/policy/upkeep-policy.ts';

/**
 * The whole policy from the settings of the policy file.
 *
 * @param resendAllowed false: no purchase is ever sent a second time without an operator.
 */
export function policyOf(settings: PolicySettings, resendAllowed: boolean): Policy {
  const { reconcile, relay, temporalHealth, sweep, books, catalogue, webhookSecret, webhookSilence } = DEFAULT_POLICY;
  const { waiting, streams } = DEFAULT_POLICY;
  return {
    gate: gateOf(settings),
    purchase: purchaseOf(settings, resendAllowed),
    reconcile: {
      ...reconcile,
      silentAfterMs: settings.reconciler.silent_after,
      everyMs: settings.reconciler.every,
    },
    relay: { ...relay, pollMs: settings.relay.poll, leaseMs: settings.relay.lease },
    temporalHealth,
    sweep: {
      ...sweep,
      everyMs: settings.sweeper.every,
      idleAfterMs: settings.sweeper.idle_after,
      eventsKeptMs: settings.events.kept,
      historyKeptMs: settings.sweeper.history_kept,
    },
    books: {
      ...books,
      everyMs: settings.books.every,
      overlapMs: settings.books.overlap,
      graceMs: settings.books.grace,
      pages: settings.books.pages,
    },
    catalogue: { ...catalogue, everyMs: settings.catalogue.every },
    watch: watchOf(settings),
    runway: runwayOf(settings),
    webhookSilence: {
      ...webhookSilence,
      windowMs: settings.service_webhooks.silence_window,
      reports: settings.service_webhooks.silence_reports,
    },
    webhookSecret: { ...webhookSecret, overlapMs: settings.service_webhooks.secret_overlap },
    webhookTimestamp: { toleranceMs: settings.service_webhooks.timestamp_tolerance },
    outbound: outboundOf(settings),
    waiting: { ...waiting, maxMs: settings.waiting.max, maxWaitingPerKey: settings.waiting.per_key },
    streams: { ...streams, perKey: settings.streams.per_key, heartbeatMs: settings.streams.heartbeat },
  };
}

function gateOf({ gate, purchase, wallet }: PolicySettings): Policy['gate'] {
  return {
    ...DEFAULT_POLICY.gate,
    balanceAgeMs: gate.balance_age,
    balanceTrustMs: gate.balance_trust,
    priceAgeMs: gate.price_age,
    debitShowsAfterMs: purchase.settle_delay,
    spendLimit: gate.spend_limit,
    lowBalance: wallet.low_balance,
    circuitFailures: gate.circuit_failures,
    probeDelayMs: gate.circuit_probe_delay,
    probeDelayMaxMs: Math.max(gate.circuit_probe_delay, gate.circuit_probe_delay_max),
    // The canary must be woken, read a price and send within this time.
    canaryLeaseMs: purchase.send_activity_timeout + purchase.send_lease,
    releasesPerSecond: gate.releases_per_second,
    tickMs: gate.tick,
    recheckMs: gate.recheck,
    firstPurchaseCheckMs: gate.first_purchase_check_every,
  };
}

function purchaseOf(settings: PolicySettings, resendAllowed: boolean): Policy['purchase'] {
  const { purchase, retry, cancellation, vpn_subscription: vpn } = settings;
  return {
    ...DEFAULT_POLICY.purchase,
    sendDeadlineMs: purchase.send_deadline,
    sendLeaseMs: purchase.send_lease,
    sendActivityTimeoutMs: purchase.send_activity_timeout,
    resendAllowed,
    resendWindowMs: purchase.resend_window,
    resendDelayMs: purchase.resend_delay,
    deliveryDeadlineMs: purchase.delivery_deadline,
    lookUpAgainMs: purchase.look_up_again,
    lookUpAgainMaxMs: Math.max(purchase.look_up_again, purchase.look_up_again_max),
    blockedRetryMs: purchase.blocked_retry,
    blockedRetryMaxMs: Math.max(purchase.blocked_retry, purchase.blocked_retry_max),
    stalledAfterMs: purchase.stalled_after,
    missingRowCheckMs: purchase.missing_row_check,
    missingRowCheckMaxMs: Math.max(purchase.missing_row_check, purchase.missing_row_check_max),
    holdDelayMs: retry.hold_delay,
    holdDeadlineMs: retry.hold_deadline,
    settleDelayMs: purchase.settle_delay,
    unseenDebitDelayMs: purchase.unseen_debit_delay,
    evidenceAgainMs: Math.min(DEFAULT_POLICY.purchase.evidenceAgainMs, Math.max(1_000, purchase.settle_delay)),
    evidenceDeadlineMs: purchase.evidence_deadline,
    refundDeadlineMs: cancellation.refund_deadline,
    refundGraceMs: cancellation.refund_grace,
    cancelCheckMs: vpn.cancel_check,
    expiryGraceMs: vpn.expiry_grace,
    maxAttempts: retry.max_attempts,
    attemptDelayMs: retry.attempt_delay,
    whenUsedUp: retry.when_attempts_are_used_up,
    ...(retry.rules !== undefined && { retryRules: retry.rules }),
    silentDeadlineMs: purchase.silent_deadline,
    deniedAfterMs: purchase.denied_after,
  };
}

function watchOf({ watch: settings }: PolicySettings): Policy['watch'] {
  const { watch } = DEFAULT_POLICY;
  return {
    ...watch,
    everyMs: settings.every,
    readsPerRun: settings.usage_reads,
    againAfterMs: settings.usage_age,
    idleAfterMs: Math.max(watch.idleAfterMs, settings.usage_age),
    dataLow: settings.data_low,
    expiringMs: settings.expiring,
  };
}

function runwayOf({ wallet }: PolicySettings): RunwayPolicy {
  const { runway } = DEFAULT_POLICY;
  const windowDays = wallet.runway_window_days;
  return { ...runway, windowDays, minimumDays: Math.min(runway.minimumDays, windowDays), lowMs: wallet.runway_low };
}

function outboundOf({ event_webhooks: settings }: PolicySettings): Policy['outbound'] {
  return {
    ...DEFAULT_POLICY.outbound,
    sendDeadlineMs: settings.deadline,
    leaseMs: settings.lease,
    retryDelayMs: settings.retry_delay,
    retryDelayMaxMs: Math.max(settings.retry_delay, settings.retry_delay_max),
    retryForMs: settings.retry_for,
    probeDelayMaxMs: Math.max(settings.retry_delay, settings.probe_delay_max),
    disableAfterMs: settings.disable_after,
    logKeptMs: settings.log_kept,
    secretOverlapMs: settings.secret_overlap,
  };
}
