import type { RateLimitSettings } from '#api/access/rate-limits.ts';
import type { WebhookSecretCache } from '#api/service-webhooks/webhook-secret-cache.ts';
import type { Waits } from '#api/waits/waits.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { AcceptedSecret } from '#crypto/webhook-signature.ts';
import type { Database } from '#db/connection/database.ts';
import type { Money } from '#domain/money/money.ts';
import type { StreamPolicy } from '#domain/policy/api-policy.ts';
import type { RunwayPolicy } from '#domain/policy/upkeep-policy.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import type { InboxIntake } from '#fulfilment/observations/inbox-intake.ts';
import type { AddressPolicy } from '#outbound/address-policy.ts';
import type { EventTail } from '#outbound/event-tail.ts';
import type { HostLookup } from '#outbound/host-lookup.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import type { DegradationCheck, ReadinessCheck } from '#telemetry/readiness.ts';
import type { UnusedObserver } from '#telemetry/service-calls.ts';
import type { ServiceClient } from '#upstream/client.ts';

/** Everything that the API is made of; `main.ts` puts in the real parts, tests what they need. */
export interface ApiDependencies {
  readonly database: Database;
  readonly keyRing: KeyRing;
  /** What we ask the service on behalf of our callers. */
  readonly service: Pick<
    ServiceClient,
    | 'createWebhookSecret'
    | 'findTopupsOfEsim'
    | 'getEsim'
    | 'getEsimUsage'
    | 'getLatestUpdate'
    | 'getWallet'
    | 'listPackages'
    | 'listPublicPackages'
    | 'listTopupOptions'
    | 'listVpnPlans'
    | 'listWalletTransactions'
    | 'rotateWebhookSecret'
  >;
  /** The service's environment that we are in; what is stored for the other is not ours. */
  readonly serviceMode: ServiceMode;
  readonly intake: Pick<InboxIntake, 'accept'>;
  /** New events, for all who wait in this process. */
  readonly tail: EventTail;
  readonly waits: Waits;
  readonly streams: StreamPolicy;
  /** Told of fields of the service's events that are read as absent. */
  readonly onUnused: UnusedObserver;
  /** Tells the relay that there is work. */
  readonly wakeRelay: () => void;
  /** Everything before `-Event` in the names of the service's webhook headers. */
  readonly headerPrefix: string;
  /** Secrets of the configuration, which verify webhooks beside the stored ones. */
  readonly webhookSecrets: readonly AcceptedSecret[];
  readonly storedSecrets: WebhookSecretCache;
  /** How long a former stored secret still verifies, in milliseconds, where the caller names no other time. */
  readonly webhookSecretOverlapMs: number;
  /** The daily limit of all API keys together, which the worker enforces. */
  readonly spendLimit: Money | undefined;
  /** When the wallet counts as low by how long it lasts, which the worker announces. */
  readonly runway: RunwayPolicy;
  /** Where webhook endpoints may be. */
  readonly webhookTargets: { readonly policy: AddressPolicy; readonly lookup: HostLookup };
  /**
   * How long the former secret of a webhook endpoint still signs, in milliseconds, where the caller names no other
   * time.
   */
  readonly endpointSecretOverlapMs: number;
  readonly bodyLimitBytes: number;
  readonly rateLimits: RateLimitSettings;
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** What `/readyz` asks, by name. */
  readonly readinessChecks: Readonly<Record<string, ReadinessCheck>>;
  /** What `/readyz` names beside that. */
  readonly degraded: DegradationCheck;
  /** Why nothing but probes and documentation is answered at present; undefined when everything is. */
  readonly closedBecause: () => string | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Epoch milliseconds. */
  readonly now: () => number;
}
