import { backoffMs, spreadMs } from '#domain/policy/settings.ts';
import type { OutboundPolicy } from '#domain/policy/webhook-policy.ts';

export const TRY_FAILURES = {
  address_refused: 'webhooks may not be sent to its address',
  host_unknown: 'its host name is not known',
  connection_failed: 'no connection could be opened, or it broke',
  tls_failed: 'its certificate was not accepted, or TLS failed otherwise',
  timeout: 'it did not answer in time',
  unreadable_answer: 'its answer is not valid HTTP',
} as const;

export type TryFailure = keyof typeof TRY_FAILURES;

export type TryOutcome =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs?: number }
  | { readonly kind: 'no_answer'; readonly failure: TryFailure };

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Why an endpoint is disabled. We set `failing` and `gone`; a caller sets `request`. */
export const DISABLED_REASONS = {
  request: 'It was disabled by request.',
  gone: 'It answered 410 (gone): it wants no more deliveries.',
  failing: 'It had failed for too long.',
} as const;
export type DisabledReason = keyof typeof DISABLED_REASONS;

export interface EndpointHealth {
  readonly failures: number;
  readonly failingSince?: number;
  /** Nothing is sent to the endpoint before this time, in epoch milliseconds. */
  readonly retryAt?: number;
}

export interface TryJudgement {
  readonly delivery: { readonly state: DeliveryState; readonly nextTryAt?: number };
  readonly health: EndpointHealth;
  readonly disable?: Exclude<DisabledReason, 'request'>;
}

const GONE = 410;

/** A 2xx. Redirects are not followed. */
export function isDelivered(outcome: TryOutcome): boolean {
  return outcome.kind === 'answered' && outcome.status >= 200 && outcome.status <= 299;
}

/**
 * @param spread from 0 to 1: changes each wait by up to a fifth, so that failed deliveries are not retried together.
 */
export function judgeTry(
  outcome: TryOutcome,
  tried: { readonly failedTries: number; readonly triedSince: number; readonly health: EndpointHealth },
  now: number,
  spread: number,
  policy: OutboundPolicy,
): TryJudgement {
  // Several tries run at once. A success must not shorten a wait that another answer asked for.
  const asked = isFailing(tried.health, policy) ? 0 : Math.max(0, (tried.health.retryAt ?? now) - now);
  if (isDelivered(outcome))
    return { delivery: { state: 'delivered' }, health: { failures: 0, ...(asked > 0 && { retryAt: now + asked }) } };
  const failures = tried.health.failures + 1;
  const failingSince = tried.health.failingSince ?? now;
  const disable = disabledFor(outcome, now - failingSince, policy);
  if (disable !== undefined) return { delivery: { state: 'failed' }, health: { failures, failingSince }, disable };

  const asks = outcome.kind === 'answered' ? Math.min(outcome.retryAfterMs ?? 0, policy.retryDelayMaxMs) : 0;
  const own = spreadMs(backoffMs(policy.retryDelayMs, policy.retryDelayMaxMs, tried.failedTries + 1), spread);
  const nextTryAt = now + Math.max(own, asks);
  const isOver = nextTryAt - tried.triedSince > policy.retryForMs;

  const beyond = failures - policy.failingAfter;
  const pause = beyond < 0 ? 0 : spreadMs(backoffMs(policy.retryDelayMs, policy.probeDelayMaxMs, beyond + 1), spread);
  const quiet = Math.max(pause, asks, asked);
  return {
    delivery: isOver ? { state: 'failed' } : { state: 'pending', nextTryAt },
    health: { failures, failingSince, ...(quiet > 0 && { retryAt: now + quiet }) },
  };
}

/** A failing endpoint gets one delivery at a time, until one succeeds. */
export function isFailing(health: Pick<EndpointHealth, 'failures'>, policy: Pick<OutboundPolicy, 'failingAfter'>) {
  return health.failures >= policy.failingAfter;
}

export function describeOutcome(outcome: TryOutcome): string {
  if (outcome.kind === 'no_answer') return TRY_FAILURES[outcome.failure];
  const isRedirect = outcome.status >= 300 && outcome.status <= 399;
  return `it answered ${outcome.status}${isRedirect ? ' (redirects are not followed)' : ''}`;
}

function disabledFor(outcome: TryOutcome, failingMs: number, policy: OutboundPolicy): TryJudgement['disable'] {
  if (outcome.kind === 'answered' && outcome.status === GONE) return 'gone';
  return failingMs >= policy.disableAfterMs ? 'failing' : undefined;
}
