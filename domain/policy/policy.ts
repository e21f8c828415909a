/** Every delay, limit and count of the product. A workflow gets its copy in its input and never reads configuration. */
import { STREAM_SETTINGS, WAITING_SETTINGS } from '#domain/policy/api-policy.ts';
import { GATE_SETTINGS } from '#domain/policy/gate-policy.ts';
import { MIN_SEND_MARGIN_MS, PURCHASE_SETTINGS } from '#domain/policy/purchase-policy.ts';
import { RELAY_SETTINGS, TEMPORAL_HEALTH_POLICY } from '#domain/policy/relay-policy.ts';
import { SECOND, Setting, type SettingNames, type Values, valuesOf, writeDuration } from '#domain/policy/settings.ts';
import {
  BOOKS_SETTINGS,
  CATALOGUE_SETTINGS,
  RECONCILE_SETTINGS,
  RUNWAY_SETTINGS,
  SWEEP_SETTINGS,
  WATCH_SETTINGS,
} from '#domain/policy/upkeep-policy.ts';
import {
  OUTBOUND_SETTINGS,
  SERVICE_WEBHOOK_SETTINGS,
  WEBHOOK_SILENCE_SETTINGS,
} from '#domain/policy/webhook-policy.ts';
import { copiesAcceptedForMs } from '#domain/service/service-address.ts';

const TABLES = {
  purchase: PURCHASE_SETTINGS,
  gate: GATE_SETTINGS,
  runway: RUNWAY_SETTINGS,
  books: BOOKS_SETTINGS,
  catalogue: CATALOGUE_SETTINGS,
  watch: WATCH_SETTINGS,
  reconcile: RECONCILE_SETTINGS,
  sweep: SWEEP_SETTINGS,
  relay: RELAY_SETTINGS,
  temporalHealth: TEMPORAL_HEALTH_POLICY,
  serviceWebhooks: SERVICE_WEBHOOK_SETTINGS,
  webhookSilence: WEBHOOK_SILENCE_SETTINGS,
  outbound: OUTBOUND_SETTINGS,
  waiting: WAITING_SETTINGS,
  streams: STREAM_SETTINGS,
};

type Tables = typeof TABLES;
export type Policy = { readonly [Name in keyof Tables]: Values<Tables[Name]> };
export type SettingName = { [Name in keyof Tables]: SettingNames<Tables[Name]> }[keyof Tables];

export const POLICY_GROUPS = {
  purchase: 'Purchases: sending, waiting for the service, delivering.',
  retry: 'Failures that hold work, or allow a new attempt.',
  cancellation: 'Cancellations of eSIMs with a refund.',
  vpn_subscription: 'VPN subscriptions after their purchase.',
  gate: 'The purchase gate: money, limits, circuits.',
  wallet: 'Announcements about the balance of the wallet.',
  books: 'The comparison of the books with the wallet.',
  catalogue: 'The catalogue of packages and VPN plans.',
  watch: 'eSIMs and subscriptions that run out.',
  reconciler: 'Look-ups of work that the service is silent about.',
  sweeper: 'Unfinished work whose workflow is lost.',
  relay: 'The relay, from PostgreSQL to Temporal.',
  service_webhooks: 'Webhooks that the service sends to us.',
  event_webhooks: 'Webhooks that we send to webhook endpoints.',
  events: 'The feed of events.',
  waiting: 'Callers that wait for an answer.',
  streams: 'Event streams.',
} as const satisfies Record<string, string>;

export const SETTINGS: readonly Setting[] = Object.values(TABLES)
  .flatMap((table): unknown[] => Object.values(table))
  .filter((each) => each instanceof Setting);

export function policyOf(valueOf?: (setting: Setting) => unknown): Policy {
  const groups: [string, unknown][] = Object.entries(TABLES).map(([name, table]) => [name, valuesOf(table, valueOf)]);
  return consistent(Object.fromEntries(groups) as Policy);
}

/** The longest of doubled waits is never shorter than the first. */
function consistent(policy: Policy): Policy {
  const { purchase, gate, runway, watch, outbound } = policy;
  return {
    ...policy,
    purchase: {
      ...purchase,
      lookUpAgainMaxMs: Math.max(purchase.lookUpAgainMs, purchase.lookUpAgainMaxMs),
      blockedRetryMaxMs: Math.max(purchase.blockedRetryMs, purchase.blockedRetryMaxMs),
      missingRowCheckMaxMs: Math.max(purchase.missingRowCheckMs, purchase.missingRowCheckMaxMs),
      evidenceAgainMs: Math.min(purchase.evidenceAgainMs, Math.max(SECOND, purchase.settleDelayMs)),
    },
    gate: {
      ...gate,
      debitShowsAfterMs: purchase.settleDelayMs,
      probeDelayMaxMs: Math.max(gate.probeDelayMs, gate.probeDelayMaxMs),
      // The canary must be woken, read a price and send within this time.
      canaryLeaseMs: purchase.sendActivityTimeoutMs + purchase.sendLeaseMs,
    },
    runway: { ...runway, minimumDays: Math.min(runway.minimumDays, runway.windowDays) },
    watch: { ...watch, idleAfterMs: Math.max(watch.idleAfterMs, watch.againAfterMs) },
    outbound: {
      ...outbound,
      retryDelayMaxMs: Math.max(outbound.retryDelayMs, outbound.retryDelayMaxMs),
      probeDelayMaxMs: Math.max(outbound.retryDelayMs, outbound.probeDelayMaxMs),
    },
  };
}

export const DEFAULT_POLICY: Policy = policyOf();

/** The setting to change, and what it must be. */
export function contradictions({ purchase, outbound, sweep, serviceWebhooks }: Policy): [SettingName, string][] {
  const found: [SettingName, string][] = [];
  const leastLease = purchase.sendDeadlineMs + MIN_SEND_MARGIN_MS;
  if (purchase.sendLeaseMs < leastLease) {
    const least = writeDuration(leastLease);
    found.push(['purchase.send_lease', `must be at least a second more than purchase.send_deadline: ${least}`]);
  }
  const leastTimeout = purchase.sendDeadlineMs + purchase.sendLeaseMs;
  if (purchase.sendActivityTimeoutMs < leastTimeout) {
    const least = writeDuration(leastTimeout);
    const message = `must be at least purchase.send_deadline and purchase.send_lease together: ${least}`;
    found.push(['purchase.send_activity_timeout', message]);
  }
  if (outbound.leaseMs <= outbound.sendDeadlineMs)
    found.push(['event_webhooks.lease', 'must be more than event_webhooks.deadline']);
  if (sweep.eventsKeptMs <= outbound.retryForMs) {
    const reason = 'an event that is no longer stored cannot be sent';
    found.push(['events.kept', `must be more than event_webhooks.retry_for: ${reason}`]);
  }
  const copiesFor = copiesAcceptedForMs(serviceWebhooks.toleranceMs);
  if (sweep.historyKeptMs < copiesFor) {
    const least = `must be at least twice service_webhooks.timestamp_tolerance, ${writeDuration(copiesFor)}`;
    const reason = 'a copy of a webhook is recognised by its stored report';
    found.push(['sweeper.history_kept', `${least}: ${reason}`]);
  }
  return found;
}
