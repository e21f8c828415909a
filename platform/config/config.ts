/** Only this folder reads `process.env`. `docs/configuration.md` documents variables and the policy file. */
import * as z from 'zod';
import { parseEnvironment, readTogether, type Environment } from '#config/environment.ts';
import { isLoopback } from '#config/fields.ts';
import { readPolicy } from '#config/policy/policy-file.ts';
import {
  capabilitiesOf,
  databaseOf,
  deploymentOf,
  serviceOf,
  temporalOf,
  type DatabaseConfig,
  type DeploymentVersion,
  type EncryptionKey,
  type ServiceConfig,
  type TemporalConfig,
} from '#config/sections.ts';
import { tracingFields, tracingOf } from '#config/tracing.ts';
import {
  apiFields,
  codecFields,
  commonFields,
  databaseFields,
  deploymentFields,
  isResendAllowed,
  outboundFields,
  policyFields,
  secretFields,
  serviceFields,
  temporalFields,
  temporalUiFields,
  workerFields,
} from '#config/variables.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Capabilities } from '#domain/service/capability-profile.ts';

export type {
  DatabaseConfig,
  DeploymentVersion,
  EncryptionKey,
  ServiceConfig,
  TemporalConfig,
  TemporalTls,
  WebhookSecret,
} from '#config/sections.ts';

export type WebhookAddressConfig = ReturnType<typeof readWebhookAddressConfig>;
export type ServiceSecretConfig = ReturnType<typeof readServiceSecretConfig>;
export type ApiConfig = ReturnType<typeof readApiConfig>;
export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

/** @throws ConfigurationError */
export function readDatabaseConfig(environment: Environment = process.env): {
  database: DatabaseConfig;
  logLevel: string;
} {
  const raw = parseEnvironment(z.object({ ...commonFields, ...databaseFields }), environment);
  return { database: databaseOf(raw), logLevel: raw.LOG_LEVEL };
}

/** @throws ConfigurationError */
export function readServiceConfig(environment: Environment = process.env): ServiceConfig {
  return serviceOf(parseEnvironment(z.object(serviceFields), environment));
}

/** @throws ConfigurationError */
export function readTemporalConfig(environment: Environment = process.env): TemporalConfig {
  return temporalOf(parseEnvironment(z.object(temporalFields), environment));
}

/** Undefined: workers have no version. @throws ConfigurationError */
export function readDeploymentVersion(environment: Environment = process.env): DeploymentVersion | undefined {
  return deploymentOf(parseEnvironment(z.object(deploymentFields), environment));
}

/** Used to check our own webhook address. @throws ConfigurationError */
export function readWebhookAddressConfig(environment: Environment = process.env) {
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

/** @throws ConfigurationError */
export function readEncryptionKeys(environment: Environment = process.env): readonly EncryptionKey[] {
  return parseEnvironment(z.object(secretFields), environment).ENCRYPTION_KEYS;
}

/** Used by the command that makes the service create a webhook secret. @throws ConfigurationError */
export function readServiceSecretConfig(environment: Environment = process.env) {
  const { SERVICE_WEBHOOK_SECRETS } = apiFields;
  const fields = { ...databaseFields, ...secretFields, ...serviceFields, SERVICE_WEBHOOK_SECRETS };
  const { raw, policy } = readWithPolicy(environment, fields);
  return {
    database: databaseOf(raw),
    encryptionKeys: raw.ENCRYPTION_KEYS,
    service: serviceOf(raw),
    configuredSecrets: raw.SERVICE_WEBHOOK_SECRETS,
    overlapMs: policy.serviceWebhooks.secretOverlapMs,
  };
}

/** Capabilities that SERVICE_MISSING_CAPABILITIES leaves on. @throws ConfigurationError */
export function readCapabilities(environment: Environment = process.env): Capabilities {
  return capabilitiesOf(
    parseEnvironment(
      z.object({ SERVICE_MISSING_CAPABILITIES: serviceFields.SERVICE_MISSING_CAPABILITIES }),
      environment,
    ),
  );
}

/** Everything before `-Event`, such as `X-Acme`. @throws ConfigurationError */
export function readHeaderPrefix(environment: Environment = process.env): string {
  const { SERVICE_HEADER_PREFIX } = serviceFields;
  return parseEnvironment(z.object({ SERVICE_HEADER_PREFIX }), environment).SERVICE_HEADER_PREFIX;
}

/** Milliseconds. @throws ConfigurationError */
export function readResendWindow(environment: Environment = process.env): number {
  return readPolicy(environment).policy.purchase.resendWindowMs;
}

/** @throws ConfigurationError */
function readPolicyOfProcess(environment: Environment): Policy {
  const { SERVICE_MISSING_CAPABILITIES } = serviceFields;
  const { raw, file } = readTogether(environment, {
    raw: (given) => parseEnvironment(z.object({ SERVICE_MISSING_CAPABILITIES, ...policyFields }), given),
    file: readPolicy,
  });
  const { policy } = file;
  return { ...policy, purchase: { ...policy.purchase, resendAllowed: isResendAllowed(raw) } };
}

const processFields = {
  ...commonFields,
  ...databaseFields,
  ...temporalFields,
  ...secretFields,
  ...serviceFields,
  ...outboundFields,
  ...tracingFields,
};

/** Reports the problems of both. @throws ConfigurationError */
function readWithPolicy<Fields extends z.ZodRawShape>(environment: Environment, fields: Fields) {
  return readTogether(environment, {
    raw: (given) => parseEnvironment(z.object(fields), given),
    policy: readPolicyOfProcess,
  });
}

/** @throws ConfigurationError */
export function readApiConfig(environment: Environment = process.env) {
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
    webhookSecretOverlapMs: policy.serviceWebhooks.secretOverlapMs,
    webhookToleranceMs: policy.serviceWebhooks.toleranceMs,
    /** The API shows it, the worker enforces it. */
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
    rateLimits: {
      perMinute: raw.API_RATE_LIMIT,
      failuresPerMinute: raw.API_FAILED_AUTHENTICATIONS,
      sharePagesPerMinute: raw.API_SHARE_LINK_RATE,
    },
    trustedProxies: raw.API_TRUSTED_PROXIES,
  };
}

/** @throws ConfigurationError */
export function readWorkerConfig(environment: Environment = process.env) {
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

/** @throws ConfigurationError */
export function readCodecServerConfig(environment: Environment = process.env) {
  const raw = parseEnvironment(
    z.object({ ...commonFields, ...secretFields, ...codecFields }).superRefine((value, context) => {
      if (value.CODEC_TOKEN !== undefined || value.CODEC_WITHOUT_TOKEN || isLoopback(value.CODEC_HOST)) return;
      context.addIssue({
        code: 'custom',
        path: ['CODEC_HOST'],
        message:
          'other machines could decrypt everything: set CODEC_TOKEN, or CODEC_WITHOUT_TOKEN=true if only trusted ' +
          'machines can connect',
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
    allowedHosts: raw.CODEC_ALLOWED_HOSTS,
    token: raw.CODEC_TOKEN,
  };
}

/** @throws ConfigurationError */
export function readUiProxyConfig(environment: Environment = process.env) {
  const raw = parseEnvironment(z.object({ ...commonFields, ...temporalUiFields }), environment);
  return {
    logLevel: raw.LOG_LEVEL,
    host: raw.TEMPORAL_UI_HOST,
    port: raw.TEMPORAL_UI_PORT,
    target: raw.TEMPORAL_UI_TARGET,
    origins: raw.TEMPORAL_UI_ORIGINS,
  };
}
