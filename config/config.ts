/**
 * Everything that the product reads from its environment, once, typed. Nothing else reads `process.env`.
 * `docs/configuration.md` is the reader's form of this file.
 */
import * as z from 'zod';
import { parseEnvironment, type Environment } from '#config/environment.ts';
import {
  endpointFields,
  overlapFields,
  policyFields,
  policyOf,
  runwayOf,
  shownFields,
  waitingFields,
  waitingOf,
} from '#config/policy-variables.ts';
import {
  apiFields,
  codecFields,
  commonFields,
  databaseFields,
  isResendAllowed,
  outboundFields,
  secretFields,
  serviceFields,
  temporalFields,
  temporalUiFields,
  workerFields,
  type Raw,
} from '#config/variables.ts';
import type { Money } from '#domain/money/money.ts';
import type { StreamPolicy, WaitingPolicy } from '#domain/policy/api-policy.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { purchasePolicyProblems } from '#domain/policy/purchase-policy.ts';
import type { RunwayPolicy } from '#domain/policy/upkeep-policy.ts';
import { ALL_CAPABILITIES, type Capabilities } from '#domain/service/capabilities.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';

export {
  readCodecServerConfig,
  readUiProxyConfig,
  type CodecServerConfig,
  type UiProxyConfig,
} from '#config/temporal-tools.ts';

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
  temporalUi: temporalUiFields,
  policy: policyFields,
} as const satisfies Record<string, z.ZodRawShape>;

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
  readonly headerPrefix: string;
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
  /** Everything before `-Event` in the names of the service's webhook headers. */
  readonly headerPrefix: string;
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

/** For commands that need only the database, such as migrations and keys. @throws ConfigurationError */
export function readDatabaseConfig(environment: Environment = process.env): {
  database: DatabaseConfig;
  logLevel: string;
} {
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
  const { SERVICE_HEADER_PREFIX } = serviceFields;
  const raw = parseEnvironment(
    z.object({ PUBLIC_WEBHOOK_URL, SERVICE_WEBHOOK_SECRETS, SERVICE_HEADER_PREFIX }),
    environment,
  );
  return {
    url: raw.PUBLIC_WEBHOOK_URL,
    headerPrefix: raw.SERVICE_HEADER_PREFIX,
    secrets: raw.SERVICE_WEBHOOK_SECRETS,
  };
}

/** For commands that open what is encrypted and need nothing else. @throws ConfigurationError */
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

/**
 * The brand in the header names of the service's webhooks, for `serviceHeaders`.
 *
 * @returns everything before `-Event`, such as `X-Acme`.
 * @throws ConfigurationError
 */
export function readHeaderPrefix(environment: Environment = process.env): string {
  const { SERVICE_HEADER_PREFIX } = serviceFields;
  return parseEnvironment(z.object({ SERVICE_HEADER_PREFIX }), environment).SERVICE_HEADER_PREFIX;
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
    headerPrefix: raw.SERVICE_HEADER_PREFIX,
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
          context.addIssue({
            code: 'custom',
            path: ['POLICY_OUTBOUND_LEASE'],
            message: 'must be more than POLICY_OUTBOUND_DEADLINE',
          });
        }
        if (value.POLICY_EVENTS_KEPT <= value.POLICY_OUTBOUND_RETRY_FOR) {
          context.addIssue({
            code: 'custom',
            path: ['POLICY_EVENTS_KEPT'],
            message:
              'must be more than POLICY_OUTBOUND_RETRY_FOR: what is tried for longer than it is kept cannot be sent',
          });
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

function capabilitiesOf(raw: Pick<Raw<typeof serviceFields>, 'SERVICE_WITHOUT'>): Capabilities {
  return { ...ALL_CAPABILITIES, ...Object.fromEntries(raw.SERVICE_WITHOUT.map((name) => [name, false])) };
}
