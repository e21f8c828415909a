import type { KeyCache } from '#api/access/authentication.ts';
import type { RateLimitSettings } from '#api/access/limits.ts';
import type { MountDependencies } from '#api/http/mount.ts';
import type { WebhookSecretCache } from '#api/service-webhooks/webhook-secret-cache.ts';
import type { Waits } from '#api/waits/waits.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { AcceptedSecret } from '#crypto/webhook-signatures.ts';
import type { Database } from '#db/connection/database.ts';
import type { Money } from '#domain/money/money.ts';
import type { StreamPolicy } from '#domain/policy/api-policy.ts';
import type { RunwayPolicy } from '#domain/policy/upkeep-policy.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import type { InboxWriter } from '#fulfilment/reports/inbox-writer.ts';
import type { EventTail } from '#outbound/event-tail.ts';
import type { AddressPolicy, HostLookup } from '#outbound/webhook-address.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import type { UnusedObserver } from '#telemetry/observers.ts';
import type { DegradationCheck, ReadinessCheck } from '#telemetry/probes.ts';
import type { ServiceClient } from '#upstream/client.ts';

/** Dependencies of the API. Tests replace some of them. */
export interface ApiDependencies {
  readonly database: Database;
  readonly keyRing: KeyRing;
  /** The calls to the service that the API makes for its callers. */
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
  /** The environment of the service; rows stored for the other environment are ignored. */
  readonly serviceMode: ServiceMode;
  readonly intake: Pick<InboxWriter, 'accept'>;
  readonly tail: EventTail;
  readonly waits: Waits;
  readonly streams: StreamPolicy;
  readonly running: MountDependencies['running'];
  /** Called for fields of the service's events that are ignored because their form is not understood. */
  readonly onUnused: UnusedObserver;
  /** The prefix of the service's webhook headers: the text before `-Event`. */
  readonly headerPrefix: string;
  /** Webhook secrets of the configuration; they are valid in addition to the stored ones. */
  readonly webhookSecrets: readonly AcceptedSecret[];
  readonly storedSecrets: WebhookSecretCache;
  /** Default validity of a former stored secret, in milliseconds. */
  readonly webhookSecretOverlapMs: number;
  /** How far the timestamp of a webhook of the service may be from our clock, in milliseconds. */
  readonly webhookToleranceMs: number;
  /** The daily limit of all API keys together, which the worker enforces. */
  readonly spendLimit: Money | undefined;
  /** The threshold below which the runway of the wallet counts as low; the worker announces it. */
  readonly runway: RunwayPolicy;
  readonly webhookTargets: { readonly policy: AddressPolicy; readonly lookup: HostLookup };
  /**
   * How long the former secret of a webhook endpoint still signs, in milliseconds, where the caller names no other
   * time.
   */
  readonly endpointSecretOverlapMs: number;
  /** Address under which callers reach the API, without a trailing slash. */
  readonly publicUrl: () => string;
  /** Address under which end customers reach the pages of share links, without a trailing slash. */
  readonly shareLinkUrl: () => string;
  readonly bodyLimitBytes: number;
  readonly keys: Pick<KeyCache, 'find' | 'findAnew'>;
  readonly rateLimits: RateLimitSettings;
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  readonly readinessChecks: Readonly<Record<string, ReadinessCheck>>;
  readonly degraded: DegradationCheck;
  /** Why only probes and documentation are answered now; undefined when all calls are. */
  readonly closedBecause: () => string | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Epoch milliseconds. */
  readonly now: () => number;
}
