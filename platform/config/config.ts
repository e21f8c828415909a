/**
 * Reads the configuration of each process and command: addresses and secrets from environment variables, delays, limits
 * and counts from the policy file. Only this folder reads `process.env`. `docs/configuration.md` documents both.
 */
import * as z from 'zod';
import { parseEnvironment, readTogether, type Environment } from '#config/environment.ts';
import { readPolicy } from '#config/policy/policy-file.ts';
import { policyOf } from '#config/policy/policy-of.ts';
import {
  capabilitiesOf,
  databaseOf,
  serviceOf,
  temporalOf,
  deploymentOf,
  type DatabaseConfig,
  type DeploymentVersion,
  type EncryptionKey,
  type ServiceConfig,
  type TemporalConfig,
  type WebhookSecret,
  rateLimitsOf,
  type RateLimitConfig,
} from '#config/sections.ts';
import { tracingFields, tracingOf, type TracingConfig } from '#config/tracing.ts';
import {
  apiFields,
  commonFields,
  databaseFields,
  deploymentFields,
  isResendAllowed,
  outboundFields,
  policyFields,
  secretFields,
  serviceFields,
  temporalFields,
  workerFields,
} from '#config/variables.ts';
import type { Money } from '#domain/money/money.ts';
import type { StreamPolicy, WaitingPolicy } from '#domain/policy/api-policy.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { RunwayPolicy } from '#domain/policy/upkeep-policy.ts';
import type { Capabilities } from '#domain/service/capability-profile.ts';

export { readCodecServerConfig, readUiProxyConfig } from '#config/temporal-tools.ts';
export type {
  DatabaseConfig,
  DeploymentVersion,
  EncryptionKey,
  ServiceConfig,
  TemporalConfig,
  TemporalTls,
  WebhookSecret,
} from '#config/sections.ts';

/** Configuration of the check of our own webhook address. */
export interface WebhookAddressConfig {
  readonly url: string | undefined;
  readonly headerPrefix: string;
  readonly secrets: readonly WebhookSecret[];
}

/** Configuration of the command that makes the service create a webhook secret. */
export interface ServiceSecretConfig {
  readonly database: DatabaseConfig;
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly service: ServiceConfig;
  /** Secrets of SERVICE_WEBHOOK_SECRETS, which are accepted in addition to the stored ones. */
  readonly configuredSecrets: readonly WebhookSecret[];
  /** How long the former secret is accepted, in milliseconds. */
  readonly overlapMs: number;
}

export interface ApiConfig {
  readonly logLevel: string;
  /** Undefined: nothing is traced. */
  readonly tracing: TracingConfig | undefined;
  readonly database: DatabaseConfig;
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly temporal: TemporalConfig;
  readonly service: ServiceConfig;
  /** Everything before `-Event` in the names of the service's webhook headers. */
  readonly headerPrefix: string;
  readonly webhookSecrets: readonly WebhookSecret[];
  /** How long a former stored secret is accepted after a rotation, in milliseconds. */
  readonly webhookSecretOverlapMs: number;
  /** How far the timestamp of a webhook of the service may be from our clock, in milliseconds. */
  readonly webhookToleranceMs: number;
  /** Daily limit of all keys together: the API shows it, the worker enforces it. */
  readonly spendLimit: Money | undefined;
  readonly runway: RunwayPolicy;
  /** Networks that are not public and in which webhook endpoints are allowed. */
  readonly webhookAllowedAddresses: readonly string[];
  /** How long the former secret of a webhook endpoint still signs after a rotation, in milliseconds. */
  readonly endpointSecretOverlapMs: number;
  readonly waiting: WaitingPolicy;
  readonly streams: StreamPolicy;
  readonly host: string;
  readonly port: number;
  /** Address under which callers reach the API; undefined: where it listens. */
  readonly publicUrl: string | undefined;
  /** Address of the pages of share links; undefined: as `publicUrl`. */
  readonly shareLinkUrl: string | undefined;
  readonly bodyLimitBytes: number;
  readonly rateLimits: RateLimitConfig;
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
}

export interface WorkerConfig {
  readonly logLevel: string;
  /** Undefined: nothing is traced. */
  readonly tracing: TracingConfig | undefined;
  readonly database: DatabaseConfig;
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly temporal: TemporalConfig;
  readonly service: ServiceConfig;
  readonly policy: Policy;
  /** Networks that are not public and in which webhook endpoints are allowed. */
  readonly webhookAllowedAddresses: readonly string[];
  /** URL of the proxy that event webhooks are sent through; undefined: none. */
  readonly webhookProxy: string | undefined;
  readonly probeHost: string;
  readonly probePort: number;
  readonly shutdownGraceMs: number;
  /** Activities a second in all workers together; undefined: no limit. */
  readonly purchasesPerSecond: number | undefined;
  readonly readsPerSecond: number | undefined;
  /** The version of the workers in Temporal; undefined: they have none. */
  readonly deployment: DeploymentVersion | undefined;
  /** File with the bundled workflows; undefined: the worker bundles them at its start. */
  readonly workflowBundle: string | undefined;
}

/** For commands that need only the database. @throws ConfigurationError */
export function readDatabaseConfig(environment: Environment = process.env): {
  database: DatabaseConfig;
  logLevel: string;
} {
  const raw = parseEnvironment(z.object({ ...commonFields, ...databaseFields }), environment);
  return { database: databaseOf(raw), logLevel: raw.LOG_LEVEL };
}

/** For commands that need only the service. @throws ConfigurationError */
export function readServiceConfig(environment: Environment = process.env): ServiceConfig {
  return serviceOf(parseEnvironment(z.object(serviceFields), environment));
}

/** For commands that need only Temporal. @throws ConfigurationError */
export function readTemporalConfig(environment: Environment = process.env): TemporalConfig {
  return temporalOf(parseEnvironment(z.object(temporalFields), environment));
}

/** For commands about versions of the workers; undefined: workers have none. @throws ConfigurationError */
export function readDeploymentVersion(environment: Environment = process.env): DeploymentVersion | undefined {
  return deploymentOf(parseEnvironment(z.object(deploymentFields), environment));
}

/** For the check of our own webhook address. @throws ConfigurationError */
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

/** For commands that need only the encryption keys. @throws ConfigurationError */
export function readEncryptionKeys(environment: Environment = process.env): readonly EncryptionKey[] {
  return parseEnvironment(z.object(secretFields), environment).ENCRYPTION_KEYS;
}

/** For the command that makes the service create a webhook secret. @throws ConfigurationError */
export function readServiceSecretConfig(environment: Environment = process.env): ServiceSecretConfig {
  const { SERVICE_WEBHOOK_SECRETS } = apiFields;
  const fields = { ...databaseFields, ...secretFields, ...serviceFields, SERVICE_WEBHOOK_SECRETS };
  const { raw, policy } = readWithPolicy(environment, fields);
  return {
    database: databaseOf(raw),
    encryptionKeys: raw.ENCRYPTION_KEYS,
    service: serviceOf(raw),
    configuredSecrets: raw.SERVICE_WEBHOOK_SECRETS,
    overlapMs: policy.webhookSecret.overlapMs,
  };
}

/** The capabilities of the service that SERVICE_MISSING_CAPABILITIES leaves on. @throws ConfigurationError */
export function readCapabilities(environment: Environment = process.env): Capabilities {
  return capabilitiesOf(
    parseEnvironment(
      z.object({ SERVICE_MISSING_CAPABILITIES: serviceFields.SERVICE_MISSING_CAPABILITIES }),
      environment,
    ),
  );
}

/**
 * The prefix in the header names of service webhooks, for `serviceHeaders`.
 *
 * @returns everything before `-Event`, such as `X-Acme`.
 * @throws ConfigurationError
 */
export function readHeaderPrefix(environment: Environment = process.env): string {
  const { SERVICE_HEADER_PREFIX } = serviceFields;
  return parseEnvironment(z.object({ SERVICE_HEADER_PREFIX }), environment).SERVICE_HEADER_PREFIX;
}

/** How long the bytes of a purchase may be sent again, in milliseconds. @throws ConfigurationError */
export function readResendWindow(environment: Environment = process.env): number {
  return readPolicy(environment).settings.purchase.resend_window;
}

/** The policy of a process. @throws ConfigurationError */
function readPolicyOfProcess(environment: Environment): Policy {
  const { SERVICE_MISSING_CAPABILITIES } = serviceFields;
  const { raw, file } = readTogether(environment, {
    raw: (given) => parseEnvironment(z.object({ SERVICE_MISSING_CAPABILITIES, ...policyFields }), given),
    file: readPolicy,
  });
  return policyOf(file.settings, isResendAllowed(raw));
}

/** The variables that API and worker share. */
const processFields = {
  ...commonFields,
  ...databaseFields,
  ...temporalFields,
  ...secretFields,
  ...serviceFields,
  ...outboundFields,
  ...tracingFields,
};

/** Variables and the policy, with the problems of both. @throws ConfigurationError */
function readWithPolicy<Fields extends z.ZodRawShape>(environment: Environment, fields: Fields) {
  return readTogether(environment, {
    raw: (given) => parseEnvironment(z.object(fields), given),
    policy: readPolicyOfProcess,
  });
}

/** @throws ConfigurationError naming every missing or wrong variable and setting. */
export function readApiConfig(environment: Environment = process.env): ApiConfig {
  const { raw, policy } = readWithPolicy(environment, { ...processFields, ...apiFields });
  return {
    logLevel: raw.LOG_LEVEL,
    tracing: tracingOf(raw),
    database: databaseOf(raw),
    encryptionKeys: raw.ENCRYPTION_KEYS,
    temporal: temporalOf(raw),
    service: serviceOf(raw),
    headerPrefix: raw.SERVICE_HEADER_PREFIX,
    webhookSecrets: raw.SERVICE_WEBHOOK_SECRETS,
    webhookSecretOverlapMs: policy.webhookSecret.overlapMs,
    webhookToleranceMs: policy.webhookTimestamp.toleranceMs,
    spendLimit: policy.gate.spendLimit,
    runway: policy.runway,
    webhookAllowedAddresses: raw.WEBHOOK_ALLOWED_ADDRESSES,
    endpointSecretOverlapMs: policy.outbound.secretOverlapMs,
    waiting: policy.waiting,
    streams: policy.streams,
    host: raw.API_HOST,
    port: raw.API_PORT,
    publicUrl: raw.API_PUBLIC_URL,
    shareLinkUrl: raw.API_SHARE_LINK_URL,
    bodyLimitBytes: raw.API_BODY_LIMIT,
    rateLimits: rateLimitsOf(raw),
    trustedProxies: raw.API_TRUSTED_PROXIES,
  };
}

/** @throws ConfigurationError naming every missing or wrong variable and setting. */
export function readWorkerConfig(environment: Environment = process.env): WorkerConfig {
  const { raw, policy } = readWithPolicy(environment, { ...processFields, ...workerFields });
  return {
    logLevel: raw.LOG_LEVEL,
    tracing: tracingOf(raw),
    database: databaseOf(raw),
    encryptionKeys: raw.ENCRYPTION_KEYS,
    temporal: temporalOf(raw),
    service: serviceOf(raw),
    policy,
    webhookAllowedAddresses: raw.WEBHOOK_ALLOWED_ADDRESSES,
    webhookProxy: raw.WEBHOOK_PROXY,
    probeHost: raw.WORKER_PROBE_HOST,
    probePort: raw.WORKER_PROBE_PORT,
    shutdownGraceMs: raw.WORKER_SHUTDOWN_GRACE,
    purchasesPerSecond: raw.WORKER_PURCHASES_PER_SECOND,
    readsPerSecond: raw.WORKER_READS_PER_SECOND,
    deployment: deploymentOf(raw),
    workflowBundle: raw.WORKFLOW_BUNDLE,
  };
}
