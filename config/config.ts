/**
 * Everything that the product reads from its environment, once, typed. Nothing else reads `process.env`.
 * `docs/configuration.md` is the reader's form of this file.
 */
import * as z from 'zod';
import { ALL_CAPABILITIES, capabilities, type Capabilities } from '#domain/capabilities.ts';
import type { Money } from '#domain/money.ts';
import {
  DEFAULT_POLICY,
  MAX_OUTBOUND_DEADLINE_MS,
  MAX_REFUND_DEADLINE_MS,
  MAX_WAIT_MS,
  MAX_WEBHOOK_SECRET_OVERLAP_MS,
  purchasePolicyProblems,
  type Policy,
  type RunwayPolicy,
  type StreamPolicy,
  type WaitingPolicy,
} from '#domain/policy.ts';
import { BASE_PATH, type ServiceMode } from '#domain/service-address.ts';
import {
  ConfigurationError,
  durationList,
  durationMs,
  flag,
  isLoopback,
  keyList,
  networkList,
  originList,
  port,
  price,
  rateLimit,
  secretList,
  shareList,
  urlOf,
} from '#config/fields.ts';
import { retryRules } from '#config/retry-rules.ts';

const databaseFields = {
  DATABASE_URL: urlOf('postgres:', 'postgresql:'),
  /** Two at least: what holds a transaction open may have to read the service's token meanwhile. */
  DATABASE_POOL_SIZE: z.coerce.number().int().min(2).max(200).default(10),
  /** A connection that is not pooled in transaction mode: LISTEN needs one. */
  DATABASE_DIRECT_URL: urlOf('postgres:', 'postgresql:').optional(),
};

const temporalFields = {
  TEMPORAL_ADDRESS: z.string().regex(/^[^\s:/]+:\d{1,5}$/, 'must be host:port').default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_TLS: flag(false),
  /** Sent as an API key where the Temporal cluster asks for one. */
  TEMPORAL_API_KEY: z.string().min(1).optional(),
};

const secretFields = {
  /** `id:base64` of 32 bytes each, comma separated; the first seals, all open. */
  ENCRYPTION_KEYS: keyList(),
};

const serviceFields = {
  SERVICE_BASE_URL: urlOf('http:', 'https:').refine((url) => url.replace(/\/+$/, '').endsWith(BASE_PATH), {
    message: `must end with ${BASE_PATH} (the production base address; the sandbox's is derived from it)`,
  }),
  SERVICE_MODE: z.enum(['sandbox', 'production']).default('sandbox'),
  SERVICE_EMAIL: z.email(),
  SERVICE_PASSWORD: z.string().min(1),
  SERVICE_DEVICE_NAME: z.string().min(1).max(255).default('reseller-fulfilment'),
  SERVICE_TOKEN_DAYS: z.coerce.number().int().min(1).max(3650).optional(),
  /** Names of capabilities that the service does not have, comma separated. */
  SERVICE_WITHOUT: z
    .string()
    .default('')
    .transform((text) => text.split(',').map((name) => name.trim()).filter(Boolean))
    .pipe(z.array(z.enum(capabilities as [keyof Capabilities, ...(keyof Capabilities)[]]))),
};

const apiFields = {
  API_HOST: z.string().min(1).default('127.0.0.1'),
  API_PORT: port(3000),
  /** Secrets that sign the service's webhooks, beside those that we store ourselves: `secret` or `secret@<RFC 3339 time until which it is accepted>`. */
  SERVICE_WEBHOOK_SECRETS: secretList().default([]),
  /** Where the service's webhooks reach us from outside; `reseller doctor` tries it. */
  PUBLIC_WEBHOOK_URL: urlOf('http:', 'https:').optional(),
  /** Largest request body taken, in bytes. */
  /** Requests a minute of each API key that has no limit of its own, in one process. */
  API_RATE_LIMIT: rateLimit('6000'),
  /** Failed authentications a minute from one address. */
  API_FAILED_AUTHENTICATIONS: z.coerce.number().int().min(1).max(1_000_000).default(30),
  /** Proxies in front of the API, whose X-Forwarded-For is believed. */
  API_TRUSTED_PROXIES: networkList().default([]),
  API_BODY_LIMIT: z.coerce.number().int().min(1_024).max(16_777_216).default(262_144),
};

const workerFields = {
  WORKER_PROBE_HOST: z.string().min(1).default('127.0.0.1'),
  /** Port of the worker's health, readiness and metrics. */
  WORKER_PROBE_PORT: port(3001),
  WORKER_SHUTDOWN_GRACE: durationMs('20s'),
  /** File with the workflows, built ahead by `node worker/build-bundle.ts FILE`; without one each start builds them. */
  WORKFLOW_BUNDLE: z.string().min(1).optional(),
};

/** What the API and the worker read about webhooks of ours. */
const outboundFields = {
  /** Networks that webhook endpoints may be in although they are not public, comma separated. */
  WEBHOOK_ALLOWED_ADDRESSES: networkList().default([]),
};

const codecFields = {
  CODEC_HOST: z.string().min(1).default('127.0.0.1'),
  CODEC_PORT: port(8234),
  /** Origins of the Temporal UI, comma separated: the only ones that may ask the codec server from a browser. */
  CODEC_ALLOWED_ORIGIN: originList('http://127.0.0.1:8233,http://localhost:8233'),
  /** Bearer token that the codec server asks for; without one it listens on loopback only. */
  CODEC_TOKEN: z.string().min(16).optional(),
  /** An operator's word that something else keeps strangers out, such as a port published on loopback only. */
  CODEC_WITHOUT_TOKEN: flag(false),
};

const commonFields = {
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
};

/** Overrides of the policy's times; for tests, the bench and unusual services. */
const policyFields = {
  POLICY_SEND_DEADLINE: durationMs(DEFAULT_POLICY.purchase.sendDeadlineMs),
  POLICY_SEND_LEASE: durationMs(DEFAULT_POLICY.purchase.sendLeaseMs),
  POLICY_SEND_ACTIVITY_TIMEOUT: durationMs(DEFAULT_POLICY.purchase.sendActivityTimeoutMs),
  POLICY_RESEND_WINDOW: durationMs(DEFAULT_POLICY.purchase.resendWindowMs),
  POLICY_RESEND_DELAY: durationMs(DEFAULT_POLICY.purchase.resendDelayMs),
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
  POLICY_WATCH_EVERY: durationMs(DEFAULT_POLICY.watch.everyMs),
  POLICY_USAGE_READS: z.coerce.number().int().min(0).max(10_000).default(DEFAULT_POLICY.watch.readsPerRun),
  POLICY_USAGE_AGE: durationMs(DEFAULT_POLICY.watch.againAfterMs),
  POLICY_DATA_LOW: shareList('20%,5%'),
  POLICY_EXPIRING: durationList('72h,24h'),
  POLICY_RUNWAY_LOW: durationMs(DEFAULT_POLICY.runway.lowMs),
  POLICY_RUNWAY_WINDOW: z.coerce.number().int().min(1).max(92).default(DEFAULT_POLICY.runway.windowDays),
  POLICY_WEBHOOK_SILENCE: durationMs(DEFAULT_POLICY.webhookSilence.windowMs),
  POLICY_WEBHOOK_SILENCE_NEWS: z.coerce.number().int().min(1).max(1_000).default(DEFAULT_POLICY.webhookSilence.news),
  POLICY_WEBHOOK_SECRET_OVERLAP: durationMs(DEFAULT_POLICY.webhookSecret.overlapMs, MAX_WEBHOOK_SECRET_OVERLAP_MS),
  POLICY_EVENTS_KEPT: durationMs(DEFAULT_POLICY.sweep.eventsKeptMs),
  POLICY_WAIT_MAX: durationMs(DEFAULT_POLICY.waiting.maxMs, MAX_WAIT_MS),
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

/** What of the policy the API and `reseller service-secret` read; the rest is the worker's. */
const overlapFields = { POLICY_WEBHOOK_SECRET_OVERLAP: policyFields.POLICY_WEBHOOK_SECRET_OVERLAP };
/** What of the policy the API needs for webhook endpoints. */
const endpointFields = { POLICY_OUTBOUND_SECRET_OVERLAP: policyFields.POLICY_OUTBOUND_SECRET_OVERLAP };
/** What of the policy the API shows. */
const shownFields = {
  POLICY_SPEND_LIMIT: policyFields.POLICY_SPEND_LIMIT,
  POLICY_RUNWAY_LOW: policyFields.POLICY_RUNWAY_LOW,
  POLICY_RUNWAY_WINDOW: policyFields.POLICY_RUNWAY_WINDOW,
};
/** What of the policy is the API's own. */
const waitingFields = {
  POLICY_WAIT_MAX: policyFields.POLICY_WAIT_MAX,
  POLICY_EVENT_STREAMS: policyFields.POLICY_EVENT_STREAMS,
  POLICY_STREAM_HEARTBEAT: policyFields.POLICY_STREAM_HEARTBEAT,
};

/** Every variable by the part that reads it; `docs/configuration.md` is checked against it. */
export const CONFIGURATION_FIELDS = {
  common: commonFields,
  database: databaseFields,
  temporal: temporalFields,
  secrets: secretFields,
  service: serviceFields,
  api: apiFields,
  worker: workerFields,
  outbound: outboundFields,
  codec: codecFields,
  policy: policyFields,
} as const satisfies Record<string, z.ZodRawShape>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** A secret and, during a rotation, until when it is still accepted (epoch milliseconds). */
export interface WebhookSecret {
  readonly secret: string;
  readonly acceptedUntil?: number;
}

export interface EncryptionKey {
  readonly id: string;
  readonly key: Buffer;
}

export interface DatabaseConfig {
  readonly url: string;
  readonly directUrl: string;
  readonly poolSize: number;
}

export interface TemporalConfig {
  readonly address: string;
  readonly namespace: string;
  readonly tls: boolean;
  readonly apiKey: string | undefined;
}

export interface ServiceConfig {
  /** `{base_url}`: the production base address, without a trailing slash. */
  readonly baseUrl: string;
  readonly mode: ServiceMode;
  readonly email: string;
  readonly password: string;
  readonly deviceName: string;
  /** Asked for on production login only. */
  readonly tokenDays: number | undefined;
  readonly capabilities: Capabilities;
  /** False: nothing is ever sent twice by itself. */
  readonly resendAllowed: boolean;
}

/** What is needed to try our own webhook address. */
export interface WebhookAddressConfig {
  readonly url: string | undefined;
  readonly secrets: readonly WebhookSecret[];
}

/** What is needed to have the service make a webhook secret, and to store it. */
export interface ServiceSecretConfig {
  readonly database: DatabaseConfig;
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly service: ServiceConfig;
  /** Those of the configuration, which verify beside the stored ones. */
  readonly configuredSecrets: readonly WebhookSecret[];
  /** How long the former one still verifies, in milliseconds. */
  readonly overlapMs: number;
}

export interface ApiConfig {
  readonly logLevel: string;
  readonly database: DatabaseConfig;
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly temporal: TemporalConfig;
  readonly service: ServiceConfig;
  readonly webhookSecrets: readonly WebhookSecret[];
  /** How long a former stored secret still verifies after a rotation, in milliseconds. */
  readonly webhookSecretOverlapMs: number;
  /** The daily limit of all keys together, which the gate shows; the worker enforces it. */
  readonly spendLimit: Money | undefined;
  readonly runway: RunwayPolicy;
  /** Networks that webhook endpoints may be in although they are not public. */
  readonly webhookAllowedAddresses: readonly string[];
  /** How long the former secret of a webhook endpoint still signs after a rotation, in milliseconds. */
  readonly endpointSecretOverlapMs: number;
  readonly waiting: WaitingPolicy;
  readonly streams: StreamPolicy;
  readonly host: string;
  readonly port: number;
  readonly bodyLimitBytes: number;
  readonly rateLimits: {
    /** Requests a minute of each key; undefined: not limited. */
    readonly perMinute: number | undefined;
    /** Failed authentications a minute from one address. */
    readonly failuresPerMinute: number;
  };
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
}

export interface WorkerConfig {
  readonly logLevel: string;
  readonly database: DatabaseConfig;
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly temporal: TemporalConfig;
  readonly service: ServiceConfig;
  readonly policy: Policy;
  /** Networks that webhook endpoints may be in although they are not public. */
  readonly webhookAllowedAddresses: readonly string[];
  readonly probeHost: string;
  readonly probePort: number;
  readonly shutdownGraceMs: number;
  /** File with the workflows, built ahead. */
  readonly workflowBundle: string | undefined;
}

export interface CodecServerConfig {
  readonly logLevel: string;
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly host: string;
  readonly port: number;
  readonly allowedOrigins: readonly string[];
  readonly token: string | undefined;
}

/** For commands that need only the database, such as migrations and keys. @throws ConfigurationError */
export function readDatabaseConfig(environment: Environment = process.env): { database: DatabaseConfig; logLevel: string } {
  const raw = parseEnvironment(z.object({ ...commonFields, ...databaseFields }), environment);
  return { database: databaseOf(raw), logLevel: raw.LOG_LEVEL };
}

/** For commands that talk to the service and need nothing else. @throws ConfigurationError */
export function readServiceConfig(environment: Environment = process.env): ServiceConfig {
  return serviceOf(parseEnvironment(z.object(serviceFields), environment));
}

/** For commands that look at Temporal and need nothing else. @throws ConfigurationError */
export function readTemporalConfig(environment: Environment = process.env): TemporalConfig {
  return temporalOf(parseEnvironment(z.object(temporalFields), environment));
}

/** For commands that try our own webhook address. @throws ConfigurationError */
export function readWebhookAddressConfig(environment: Environment = process.env): WebhookAddressConfig {
  const { PUBLIC_WEBHOOK_URL, SERVICE_WEBHOOK_SECRETS } = apiFields;
  const raw = parseEnvironment(z.object({ PUBLIC_WEBHOOK_URL, SERVICE_WEBHOOK_SECRETS }), environment);
  return { url: raw.PUBLIC_WEBHOOK_URL, secrets: raw.SERVICE_WEBHOOK_SECRETS };
}

/** For commands that open what is sealed and need nothing else. @throws ConfigurationError */
export function readEncryptionKeys(environment: Environment = process.env): readonly EncryptionKey[] {
  return parseEnvironment(z.object(secretFields), environment).ENCRYPTION_KEYS;
}

/** For the command that has the service make a webhook secret. @throws ConfigurationError */
export function readServiceSecretConfig(environment: Environment = process.env): ServiceSecretConfig {
  const { SERVICE_WEBHOOK_SECRETS } = apiFields;
  const raw = parseEnvironment(
    z.object({ ...databaseFields, ...secretFields, ...serviceFields, ...overlapFields, SERVICE_WEBHOOK_SECRETS }),
    environment,
  );
  return {
    database: databaseOf(raw),
    encryptionKeys: raw.ENCRYPTION_KEYS,
    service: serviceOf(raw),
    configuredSecrets: raw.SERVICE_WEBHOOK_SECRETS,
    overlapMs: raw.POLICY_WEBHOOK_SECRET_OVERLAP,
  };
}

/** What the service is said to be able to do. @throws ConfigurationError */
export function readCapabilities(environment: Environment = process.env): Capabilities {
  return capabilitiesOf(parseEnvironment(z.object({ SERVICE_WITHOUT: serviceFields.SERVICE_WITHOUT }), environment));
}

/** @throws ConfigurationError naming every missing or wrong variable. */
export function readApiConfig(environment: Environment = process.env): ApiConfig {
  const raw = parseEnvironment(
    z.object({
      ...commonFields,
      ...databaseFields,
      ...temporalFields,
      ...secretFields,
      ...serviceFields,
      ...apiFields,
      ...overlapFields,
      ...shownFields,
      ...outboundFields,
      ...endpointFields,
      ...waitingFields,
    }),
    environment,
  );
  return {
    logLevel: raw.LOG_LEVEL,
    database: databaseOf(raw),
    encryptionKeys: raw.ENCRYPTION_KEYS,
    temporal: temporalOf(raw),
    service: serviceOf(raw),
    webhookSecrets: raw.SERVICE_WEBHOOK_SECRETS,
    webhookSecretOverlapMs: raw.POLICY_WEBHOOK_SECRET_OVERLAP,
    spendLimit: raw.POLICY_SPEND_LIMIT,
    runway: runwayOf(raw),
    webhookAllowedAddresses: raw.WEBHOOK_ALLOWED_ADDRESSES,
    endpointSecretOverlapMs: raw.POLICY_OUTBOUND_SECRET_OVERLAP,
    ...waitingOf(raw),
    host: raw.API_HOST,
    port: raw.API_PORT,
    bodyLimitBytes: raw.API_BODY_LIMIT,
    rateLimits: { perMinute: raw.API_RATE_LIMIT, failuresPerMinute: raw.API_FAILED_AUTHENTICATIONS },
    trustedProxies: raw.API_TRUSTED_PROXIES,
  };
}

/** @throws ConfigurationError naming every missing or wrong variable. */
export function readWorkerConfig(environment: Environment = process.env): WorkerConfig {
  const raw = parseEnvironment(
    z
      .object({
        ...commonFields,
        ...databaseFields,
        ...temporalFields,
        ...secretFields,
        ...serviceFields,
        ...workerFields,
        ...outboundFields,
        ...policyFields,
      })
      .superRefine((value, context) => {
        for (const problem of purchasePolicyProblems(policyOf(value).purchase)) {
          context.addIssue({ code: 'custom', path: ['POLICY_SEND_DEADLINE'], message: problem });
        }
        if (value.POLICY_OUTBOUND_LEASE <= value.POLICY_OUTBOUND_DEADLINE) {
          context.addIssue({ code: 'custom', path: ['POLICY_OUTBOUND_LEASE'], message: 'must be more than POLICY_OUTBOUND_DEADLINE' });
        }
        if (value.POLICY_EVENTS_KEPT <= value.POLICY_OUTBOUND_RETRY_FOR) {
          context.addIssue({ code: 'custom', path: ['POLICY_EVENTS_KEPT'], message: 'must be more than POLICY_OUTBOUND_RETRY_FOR: what is tried for longer than it is kept cannot be sent' });
        }
      }),
    environment,
  );
  return {
    logLevel: raw.LOG_LEVEL,
    database: databaseOf(raw),
    encryptionKeys: raw.ENCRYPTION_KEYS,
    temporal: temporalOf(raw),
    service: serviceOf(raw),
    policy: policyOf(raw),
    webhookAllowedAddresses: raw.WEBHOOK_ALLOWED_ADDRESSES,
    probeHost: raw.WORKER_PROBE_HOST,
    probePort: raw.WORKER_PROBE_PORT,
    shutdownGraceMs: raw.WORKER_SHUTDOWN_GRACE,
    workflowBundle: raw.WORKFLOW_BUNDLE,
  };
}

/** @throws ConfigurationError naming every missing or wrong variable. */
export function readCodecServerConfig(environment: Environment = process.env): CodecServerConfig {
  const raw = parseEnvironment(
    z.object({ ...commonFields, ...secretFields, ...codecFields }).superRefine((value, context) => {
      if (value.CODEC_TOKEN !== undefined || value.CODEC_WITHOUT_TOKEN || isLoopback(value.CODEC_HOST)) return;
      context.addIssue({
        code: 'custom',
        path: ['CODEC_HOST'],
        message:
          'others than this machine could decrypt everything: set CODEC_TOKEN, or CODEC_WITHOUT_TOKEN=true where ' +
          'something else keeps strangers out',
      });
    }),
    environment,
  );
  return {
    logLevel: raw.LOG_LEVEL,
    encryptionKeys: raw.ENCRYPTION_KEYS,
    host: raw.CODEC_HOST,
    port: raw.CODEC_PORT,
    allowedOrigins: raw.CODEC_ALLOWED_ORIGIN,
    token: raw.CODEC_TOKEN,
  };
}

type Raw<Fields extends z.ZodRawShape> = z.output<z.ZodObject<Fields>>;

function databaseOf(raw: Raw<typeof databaseFields>): DatabaseConfig {
  return {
    url: raw.DATABASE_URL,
    directUrl: raw.DATABASE_DIRECT_URL ?? raw.DATABASE_URL,
    poolSize: raw.DATABASE_POOL_SIZE,
  };
}

function temporalOf(raw: Raw<typeof temporalFields>): TemporalConfig {
  return {
    address: raw.TEMPORAL_ADDRESS,
    namespace: raw.TEMPORAL_NAMESPACE,
    tls: raw.TEMPORAL_TLS,
    apiKey: raw.TEMPORAL_API_KEY,
  };
}

function serviceOf(raw: Raw<typeof serviceFields>): ServiceConfig {
  return {
    baseUrl: raw.SERVICE_BASE_URL.replace(/\/+$/, ''),
    mode: raw.SERVICE_MODE,
    email: raw.SERVICE_EMAIL,
    password: raw.SERVICE_PASSWORD,
    deviceName: raw.SERVICE_DEVICE_NAME,
    tokenDays: raw.SERVICE_MODE === 'production' ? raw.SERVICE_TOKEN_DAYS : undefined,
    capabilities: capabilitiesOf(raw),
    resendAllowed: isResendAllowed(raw),
  };
}

function isResendAllowed(raw: Raw<typeof serviceFields>): boolean {
  return !raw.SERVICE_WITHOUT.includes('key_replay');
}

function capabilitiesOf(raw: Pick<Raw<typeof serviceFields>, 'SERVICE_WITHOUT'>): Capabilities {
  return { ...ALL_CAPABILITIES, ...Object.fromEntries(raw.SERVICE_WITHOUT.map((name) => [name, false])) };
}

function runwayOf(raw: Raw<typeof shownFields>): RunwayPolicy {
  const { runway } = DEFAULT_POLICY;
  const windowDays = raw.POLICY_RUNWAY_WINDOW;
  return { ...runway, windowDays, minimumDays: Math.min(runway.minimumDays, windowDays), lowMs: raw.POLICY_RUNWAY_LOW };
}

function waitingOf(raw: Raw<typeof waitingFields>): Pick<Policy, 'waiting' | 'streams'> {
  const { waiting, streams } = DEFAULT_POLICY;
  return {
    waiting: { ...waiting, maxMs: raw.POLICY_WAIT_MAX },
    streams: { ...streams, perKey: raw.POLICY_EVENT_STREAMS, heartbeatMs: raw.POLICY_STREAM_HEARTBEAT },
  };
}

function policyOf(raw: Raw<typeof policyFields & typeof serviceFields>): Policy {
  const { gate, purchase, reconcile, relay, sweep, books, watch, webhookSecret, webhookSilence, outbound } = DEFAULT_POLICY;
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
      // The canary is woken, reads a price, and sends.
      canaryLeaseMs: raw.POLICY_SEND_ACTIVITY_TIMEOUT + raw.POLICY_SEND_LEASE,
      releasesPerSecond: raw.POLICY_RELEASES_PER_SECOND,
      tickMs: raw.POLICY_GATE_TICK,
    },
    purchase: {
      ...purchase,
      sendDeadlineMs: raw.POLICY_SEND_DEADLINE,
      sendLeaseMs: raw.POLICY_SEND_LEASE,
      sendActivityTimeoutMs: raw.POLICY_SEND_ACTIVITY_TIMEOUT,
      resendAllowed: isResendAllowed(raw),
      resendWindowMs: raw.POLICY_RESEND_WINDOW,
      resendDelayMs: raw.POLICY_RESEND_DELAY,
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
    sweep: { ...sweep, everyMs: raw.POLICY_SWEEP_EVERY, idleAfterMs: raw.POLICY_SWEEP_IDLE_AFTER, eventsKeptMs: raw.POLICY_EVENTS_KEPT },
    books: {
      ...books,
      everyMs: raw.POLICY_BOOKS_EVERY,
      overlapMs: raw.POLICY_BOOKS_OVERLAP,
      graceMs: raw.POLICY_BOOKS_GRACE,
      pages: raw.POLICY_BOOKS_PAGES,
    },
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
      news: raw.POLICY_WEBHOOK_SILENCE_NEWS,
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

/** Reads an environment by its schema; an empty variable counts as missing. @throws ConfigurationError with every problem. */
export function parseEnvironment<Schema extends z.ZodType>(schema: Schema, environment: Environment): z.output<Schema> {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const result = schema.safeParse(present);
  if (result.success) return result.data;
  throw new ConfigurationError(
    result.error.issues.map((issue) => {
      const name = String(issue.path[0] ?? '');
      return present[name] === undefined ? `${name} is missing` : `${name}: ${issue.message}`;
    }),
  );
}
