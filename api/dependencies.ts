import type { KeyCache } from '#api/access/authentication.ts';
import type { InFlight } from '#api/access/limits.ts';
import type { WebhookSecretCache } from '#api/service-webhooks/webhook-secret-cache.ts';
import type { Waits } from '#api/waits/waits.ts';
import type { ApiConfig } from '#config/config.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { Database } from '#db/connection/database.ts';
import type { AT_ONCE } from '#domain/policy/api-policy.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import type { InboxWriter } from '#fulfilment/reports/inbox-writer.ts';
import type { EventTail } from '#outbound/event-tail.ts';
import type { AddressPolicy, HostLookup } from '#outbound/webhook-address.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import type { UnusedObserver } from '#telemetry/observers.ts';
import type { DegradationCheck, ReadinessCheck } from '#telemetry/probes.ts';
import type { ServiceClient } from '#upstream/client.ts';

export interface ApiDependencies extends Pick<
  ApiConfig,
  | 'bodyLimitBytes'
  | 'endpointSecretOverlapMs'
  | 'gate'
  | 'headerPrefix'
  | 'rateLimits'
  | 'runway'
  | 'streams'
  | 'trustedProxies'
  | 'webhookSecretOverlapMs'
  | 'webhookSecrets'
  | 'webhookToleranceMs'
> {
  readonly database: Database;
  readonly keyRing: KeyRing;
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
    | 'simulateEsim'
  >;
  /** Rows stored for the other environment are ignored. */
  readonly serviceMode: ServiceMode;
  readonly intake: Pick<InboxWriter, 'accept'>;
  readonly tail: EventTail;
  readonly waits: Waits;
  /** Heavy calls. */
  readonly running: Readonly<Record<keyof typeof AT_ONCE, InFlight>>;
  /** For fields of the service's events whose form is not understood. */
  readonly onUnused: UnusedObserver;
  readonly storedSecrets: WebhookSecretCache;
  readonly webhookTargets: { readonly policy: AddressPolicy; readonly lookup: HostLookup };
  /** Without a trailing slash. */
  readonly publicUrl: () => string;
  /** Of the pages for end customers, without a trailing slash. */
  readonly shareLinkUrl: () => string;
  readonly keys: Pick<KeyCache, 'find' | 'findAnew'>;
  readonly readinessChecks: Readonly<Record<string, ReadinessCheck>>;
  readonly degraded: DegradationCheck;
  /** Only probes and documentation are answered while it is set. */
  readonly closedBecause: () => string | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Epoch milliseconds. */
  readonly now: () => number;
}
