/** The variables that change the policy, and the policy that results from them. */
import * as z from 'zod';
import { durationList, durationMs, price, shareList } from '#config/fields.ts';
import { retryRules } from '#config/retry-rules.ts';
import { isResendAllowed, type Raw, type serviceFields } from '#config/variables.ts';
import { MAX_WAIT_MS } from '#domain/policy/api-policy.ts';
import { DEFAULT_POLICY, type Policy } from '#domain/policy/policy.ts';
import { MAX_REFUND_DEADLINE_MS } from '#domain/policy/purchase-policy.ts';
import type { RunwayPolicy } from '#domain/policy/upkeep-policy.ts';
import { MAX_OUTBOUND_DEADLINE_MS, MAX_WEBHOOK_SECRET_OVERLAP_MS } from '#domain/policy/webhook-policy.ts';

/** Overrides of the default policy. */
export const policyFields = {
  POLICY_SEND_DEADLINE: durationMs(DEFAULT_POLICY.purchase.sendDeadlineMs),
  POLICY_SEND_LEASE: durationMs(DEFAULT_POLICY.purchase.sendLeaseMs),
  POLICY_SEND_ACTIVITY_TIMEOUT: durationMs(DEFAULT_POLICY.purchase.sendActivityTimeoutMs),
  POLICY_RESEND_WINDOW: durationMs(DEFAULT_POLICY.purchase.resendWindowMs),
  POLICY_RESEND_DELAY: durationMs(DEFAULT_POLICY.purchase.resendDelayMs),
  POLICY_DELIVERY_DEADLINE: durationMs(DEFAULT_POLICY.purchase.deliveryDeadlineMs),
  POLICY_LOOK_UP_AGAIN: durationMs(DEFAULT_POLICY.purchase.lookUpAgainMs),
  POLICY_LOOK_UP_AGAIN_MAX: durationMs(DEFAULT_POLICY.purchase.lookUpAgainMaxMs),
  POLICY_BLOCKED_RETRY: durationMs(DEFAULT_POLICY.purchase.blockedRetryMs),
  POLICY_BLOCKED_RETRY_MAX: durationMs(DEFAULT_POLICY.purchase.blockedRetryMaxMs),
  POLICY_STALLED_AFTER: durationMs(DEFAULT_POLICY.purchase.stalledAfterMs),
  POLICY_MISSING_ROW_CHECK: durationMs(DEFAULT_POLICY.purchase.missingRowCheckMs),
  POLICY_MISSING_ROW_CHECK_MAX: durationMs(DEFAULT_POLICY.purchase.missingRowCheckMaxMs),
  POLICY_HOLD_DELAY: durationMs(DEFAULT_POLICY.purchase.holdDelayMs),
  POLICY_HOLD_DEADLINE: durationMs(DEFAULT_POLICY.purchase.holdDeadlineMs),
  POLICY_SETTLE_DELAY: durationMs(DEFAULT_POLICY.purchase.settleDelayMs),
  POLICY_REFUND_DEADLINE: durationMs(DEFAULT_POLICY.purchase.refundDeadlineMs, MAX_REFUND_DEADLINE_MS),
  POLICY_REFUND_GRACE: durationMs(DEFAULT_POLICY.purchase.refundGraceMs),
  POLICY_CANCEL_CHECK: durationMs(DEFAULT_POLICY.purchase.cancelCheckMs),
  POLICY_EXPIRY_GRACE: durationMs(DEFAULT_POLICY.purchase.expiryGraceMs),
  POLICY_MAX_ATTEMPTS: z.coerce.number().int().min(1).max(20).default(DEFAULT_POLICY.purchase.maxAttempts),
  POLICY_ATTEMPT_DELAY: durationMs(DEFAULT_POLICY.purchase.attemptDelayMs),
  POLICY_RETRY_RULES: retryRules().optional(),
  POLICY_SILENT_AFTER: durationMs(DEFAULT_POLICY.reconcile.silentAfterMs),
  POLICY_SILENT_DEADLINE: durationMs(DEFAULT_POLICY.purchase.silentDeadlineMs),
  POLICY_RECONCILE_EVERY: durationMs(DEFAULT_POLICY.reconcile.everyMs),
  POLICY_RELAY_POLL: durationMs(DEFAULT_POLICY.relay.pollMs),
  POLICY_RELAY_LEASE: durationMs(DEFAULT_POLICY.relay.leaseMs),
  POLICY_SWEEP_EVERY: durationMs(DEFAULT_POLICY.sweep.everyMs),
  POLICY_SWEEP_IDLE_AFTER: durationMs(DEFAULT_POLICY.sweep.idleAfterMs),
  POLICY_BOOKS_EVERY: durationMs(DEFAULT_POLICY.books.everyMs),
  POLICY_BOOKS_OVERLAP: durationMs(DEFAULT_POLICY.books.overlapMs),
  POLICY_BOOKS_GRACE: durationMs(DEFAULT_POLICY.books.graceMs),
  POLICY_BOOKS_PAGES: z.coerce.number().int().min(1).max(10_000).default(DEFAULT_POLICY.books.pages),
  POLICY_LOW_BALANCE: price().optional(),
  POLICY_CATALOGUE_EVERY: durationMs(DEFAULT_POLICY.catalogue.everyMs),
  POLICY_WATCH_EVERY: durationMs(DEFAULT_POLICY.watch.everyMs),
  POLICY_USAGE_READS: z.coerce.number().int().min(0).max(10_000).default(DEFAULT_POLICY.watch.readsPerRun),
  POLICY_USAGE_AGE: durationMs(DEFAULT_POLICY.watch.againAfterMs),
  POLICY_DATA_LOW: shareList('20%,5%'),
  POLICY_EXPIRING: durationList('72h,24h'),
  POLICY_RUNWAY_LOW: durationMs(DEFAULT_POLICY.runway.lowMs),
  POLICY_RUNWAY_WINDOW: z.coerce.number().int().min(1).max(92).default(DEFAULT_POLICY.runway.windowDays),
  POLICY_WEBHOOK_SILENCE: durationMs(DEFAULT_POLICY.webhookSilence.windowMs),
  POLICY_WEBHOOK_SILENCE_REPORTS: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(DEFAULT_POLICY.webhookSilence.reports),
  POLICY_WEBHOOK_SECRET_OVERLAP: durationMs(DEFAULT_POLICY.webhookSecret.overlapMs, MAX_WEBHOOK_SECRET_OVERLAP_MS),
  POLICY_EVENTS_KEPT: durationMs(DEFAULT_POLICY.sweep.eventsKeptMs),
  POLICY_WAIT_MAX: durationMs(DEFAULT_POLICY.waiting.maxMs, MAX_WAIT_MS),
  POLICY_WAITS_PER_KEY: z.coerce
    .number()
    .int()
    .min(1)
    .max(DEFAULT_POLICY.waiting.maxWaiting)
    .default(DEFAULT_POLICY.waiting.maxWaitingPerKey),
  POLICY_EVENT_STREAMS: z.coerce.number().int().min(1).max(1_000).default(DEFAULT_POLICY.streams.perKey),
  POLICY_STREAM_HEARTBEAT: durationMs(DEFAULT_POLICY.streams.heartbeatMs),
  POLICY_BALANCE_AGE: durationMs(DEFAULT_POLICY.gate.balanceAgeMs),
  POLICY_BALANCE_TRUST: durationMs(DEFAULT_POLICY.gate.balanceTrustMs),
  POLICY_PRICE_AGE: durationMs(DEFAULT_POLICY.gate.priceAgeMs),
  POLICY_SPEND_LIMIT: price().optional(),
  POLICY_CIRCUIT_FAILURES: z.coerce.number().int().min(1).max(1_000).default(DEFAULT_POLICY.gate.circuitFailures),
  POLICY_CIRCUIT_PROBE_DELAY: durationMs(DEFAULT_POLICY.gate.probeDelayMs),
  POLICY_CIRCUIT_PROBE_DELAY_MAX: durationMs(DEFAULT_POLICY.gate.probeDelayMaxMs),
  POLICY_RELEASES_PER_SECOND: z.coerce.number().int().min(1).max(1_000).default(DEFAULT_POLICY.gate.releasesPerSecond),
  POLICY_GATE_TICK: durationMs(DEFAULT_POLICY.gate.tickMs),
  POLICY_GATE_RECHECK: durationMs(DEFAULT_POLICY.gate.recheckMs),
  POLICY_FIRST_PURCHASE_CHECK_EVERY: durationMs(DEFAULT_POLICY.gate.firstPurchaseCheckMs),
  POLICY_OUTBOUND_DEADLINE: durationMs(DEFAULT_POLICY.outbound.sendDeadlineMs, MAX_OUTBOUND_DEADLINE_MS),
  POLICY_OUTBOUND_LEASE: durationMs(DEFAULT_POLICY.outbound.leaseMs),
  POLICY_OUTBOUND_RETRY_DELAY: durationMs(DEFAULT_POLICY.outbound.retryDelayMs),
  POLICY_OUTBOUND_RETRY_DELAY_MAX: durationMs(DEFAULT_POLICY.outbound.retryDelayMaxMs),
  POLICY_OUTBOUND_RETRY_FOR: durationMs(DEFAULT_POLICY.outbound.retryForMs),
  POLICY_OUTBOUND_PROBE_DELAY_MAX: durationMs(DEFAULT_POLICY.outbound.probeDelayMaxMs),
  POLICY_OUTBOUND_DISABLE_AFTER: durationMs(DEFAULT_POLICY.outbound.disableAfterMs),
  POLICY_OUTBOUND_LOG_KEPT: durationMs(DEFAULT_POLICY.outbound.logKeptMs),
  POLICY_OUTBOUND_SECRET_OVERLAP: durationMs(DEFAULT_POLICY.outbound.secretOverlapMs, MAX_WEBHOOK_SECRET_OVERLAP_MS),
};

/** Policy variables of the API and of `reseller service-secret`. */
export const overlapFields = { POLICY_WEBHOOK_SECRET_OVERLAP: policyFields.POLICY_WEBHOOK_SECRET_OVERLAP };
/** Policy variables of the API for webhook endpoints. */
export const endpointFields = { POLICY_OUTBOUND_SECRET_OVERLAP: policyFields.POLICY_OUTBOUND_SECRET_OVERLAP };
/** Policy variables that the API shows. */
export const shownFields = {
  POLICY_SPEND_LIMIT: policyFields.POLICY_SPEND_LIMIT,
  POLICY_RUNWAY_LOW: policyFields.POLICY_RUNWAY_LOW,
  POLICY_RUNWAY_WINDOW: policyFields.POLICY_RUNWAY_WINDOW,
};
/** Policy variables of the API for waiting requests and event streams. */
export const waitingFields = {
  POLICY_WAIT_MAX: policyFields.POLICY_WAIT_MAX,
  POLICY_WAITS_PER_KEY: policyFields.POLICY_WAITS_PER_KEY,
  POLICY_EVENT_STREAMS: policyFields.POLICY_EVENT_STREAMS,
  POLICY_STREAM_HEARTBEAT: policyFields.POLICY_STREAM_HEARTBEAT,
};

/** The runway policy from its variables. */
export function runwayOf(raw: Raw<typeof shownFields>): RunwayPolicy {
  const { runway } = DEFAULT_POLICY;
  const windowDays = raw.POLICY_RUNWAY_WINDOW;
  return { ...runway, windowDays, minimumDays: Math.min(runway.minimumDays, windowDays), lowMs: raw.POLICY_RUNWAY_LOW };
}

/** The policy of waiting requests and event streams from its variables. */
export function waitingOf(raw: Raw<typeof waitingFields>): Pick<Policy, 'waiting' | 'streams'> {
  const { waiting, streams } = DEFAULT_POLICY;
  return {
    waiting: { ...waiting, maxMs: raw.POLICY_WAIT_MAX, maxWaitingPerKey: raw.POLICY_WAITS_PER_KEY },
    streams: { ...streams, perKey: raw.POLICY_EVENT_STREAMS, heartbeatMs: raw.POLICY_STREAM_HEARTBEAT },
  };
}

/** The whole policy from its variables. */
export function policyOf(raw: Raw<typeof policyFields & typeof serviceFields>): Policy {
  const {
    gate,
    purchase,
    reconcile,
    relay,
    temporalHealth,
    sweep,
    books,
    catalogue,
    watch,
    webhookSecret,
    webhookSilence,
    outbound,
  } = DEFAULT_POLICY;
  return {
    gate: {
      ...gate,
      balanceAgeMs: raw.POLICY_BALANCE_AGE,
      balanceTrustMs: raw.POLICY_BALANCE_TRUST,
      priceAgeMs: raw.POLICY_PRICE_AGE,
      debitShowsAfterMs: raw.POLICY_SETTLE_DELAY,
      spendLimit: raw.POLICY_SPEND_LIMIT,
      lowBalance: raw.POLICY_LOW_BALANCE,
      circuitFailures: raw.POLICY_CIRCUIT_FAILURES,
      probeDelayMs: raw.POLICY_CIRCUIT_PROBE_DELAY,
      probeDelayMaxMs: Math.max(raw.POLICY_CIRCUIT_PROBE_DELAY, raw.POLICY_CIRCUIT_PROBE_DELAY_MAX),
      // The canary must be woken, read a price and send within this time.
      canaryLeaseMs: raw.POLICY_SEND_ACTIVITY_TIMEOUT + raw.POLICY_SEND_LEASE,
      releasesPerSecond: raw.POLICY_RELEASES_PER_SECOND,
      tickMs: raw.POLICY_GATE_TICK,
      recheckMs: raw.POLICY_GATE_RECHECK,
      firstPurchaseCheckMs: raw.POLICY_FIRST_PURCHASE_CHECK_EVERY,
    },
    purchase: {
      ...purchase,
      sendDeadlineMs: raw.POLICY_SEND_DEADLINE,
      sendLeaseMs: raw.POLICY_SEND_LEASE,
      sendActivityTimeoutMs: raw.POLICY_SEND_ACTIVITY_TIMEOUT,
      resendAllowed: isResendAllowed(raw),
      resendWindowMs: raw.POLICY_RESEND_WINDOW,
      resendDelayMs: raw.POLICY_RESEND_DELAY,
      deliveryDeadlineMs: raw.POLICY_DELIVERY_DEADLINE,
      lookUpAgainMs: raw.POLICY_LOOK_UP_AGAIN,
      lookUpAgainMaxMs: Math.max(raw.POLICY_LOOK_UP_AGAIN, raw.POLICY_LOOK_UP_AGAIN_MAX),
      blockedRetryMs: raw.POLICY_BLOCKED_RETRY,
      blockedRetryMaxMs: Math.max(raw.POLICY_BLOCKED_RETRY, raw.POLICY_BLOCKED_RETRY_MAX),
      stalledAfterMs: raw.POLICY_STALLED_AFTER,
      missingRowCheckMs: raw.POLICY_MISSING_ROW_CHECK,
      missingRowCheckMaxMs: Math.max(raw.POLICY_MISSING_ROW_CHECK, raw.POLICY_MISSING_ROW_CHECK_MAX),
      holdDelayMs: raw.POLICY_HOLD_DELAY,
      holdDeadlineMs: raw.POLICY_HOLD_DEADLINE,
      settleDelayMs: raw.POLICY_SETTLE_DELAY,
      refundDeadlineMs: raw.POLICY_REFUND_DEADLINE,
      refundGraceMs: raw.POLICY_REFUND_GRACE,
      cancelCheckMs: raw.POLICY_CANCEL_CHECK,
      expiryGraceMs: raw.POLICY_EXPIRY_GRACE,
      maxAttempts: raw.POLICY_MAX_ATTEMPTS,
      attemptDelayMs: raw.POLICY_ATTEMPT_DELAY,
      ...(raw.POLICY_RETRY_RULES !== undefined && { retryRules: raw.POLICY_RETRY_RULES }),
      silentDeadlineMs: raw.POLICY_SILENT_DEADLINE,
    },
    reconcile: { ...reconcile, silentAfterMs: raw.POLICY_SILENT_AFTER, everyMs: raw.POLICY_RECONCILE_EVERY },
    relay: { ...relay, pollMs: raw.POLICY_RELAY_POLL, leaseMs: raw.POLICY_RELAY_LEASE },
    temporalHealth,
    sweep: {
      ...sweep,
      everyMs: raw.POLICY_SWEEP_EVERY,
      idleAfterMs: raw.POLICY_SWEEP_IDLE_AFTER,
      eventsKeptMs: raw.POLICY_EVENTS_KEPT,
    },
    books: {
      ...books,
      everyMs: raw.POLICY_BOOKS_EVERY,
      overlapMs: raw.POLICY_BOOKS_OVERLAP,
      graceMs: raw.POLICY_BOOKS_GRACE,
      pages: raw.POLICY_BOOKS_PAGES,
    },
    catalogue: { ...catalogue, everyMs: raw.POLICY_CATALOGUE_EVERY },
    watch: {
      ...watch,
      everyMs: raw.POLICY_WATCH_EVERY,
      readsPerRun: raw.POLICY_USAGE_READS,
      againAfterMs: raw.POLICY_USAGE_AGE,
      idleAfterMs: Math.max(watch.idleAfterMs, raw.POLICY_USAGE_AGE),
      dataLow: raw.POLICY_DATA_LOW,
      expiringMs: raw.POLICY_EXPIRING,
    },
    runway: runwayOf(raw),
    webhookSilence: {
      ...webhookSilence,
      windowMs: raw.POLICY_WEBHOOK_SILENCE,
      reports: raw.POLICY_WEBHOOK_SILENCE_REPORTS,
    },
    webhookSecret: { ...webhookSecret, overlapMs: raw.POLICY_WEBHOOK_SECRET_OVERLAP },
    outbound: {
      ...outbound,
      sendDeadlineMs: raw.POLICY_OUTBOUND_DEADLINE,
      leaseMs: raw.POLICY_OUTBOUND_LEASE,
      retryDelayMs: raw.POLICY_OUTBOUND_RETRY_DELAY,
      retryDelayMaxMs: raw.POLICY_OUTBOUND_RETRY_DELAY_MAX,
      retryForMs: raw.POLICY_OUTBOUND_RETRY_FOR,
      probeDelayMaxMs: raw.POLICY_OUTBOUND_PROBE_DELAY_MAX,
      disableAfterMs: raw.POLICY_OUTBOUND_DISABLE_AFTER,
      logKeptMs: raw.POLICY_OUTBOUND_LOG_KEPT,
      secretOverlapMs: raw.POLICY_OUTBOUND_SECRET_OVERLAP,
    },
    ...waitingOf(raw),
  };
}
