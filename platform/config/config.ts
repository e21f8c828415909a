/**
 * The configuration of each process. Only this folder reads `process.env`. `docs/configuration.md` documents variables
 * and the policy file.
 */
import type { Environment } from '#config/environment.ts';
import { readParts } from '#config/parts.ts';

export {
  type DatabaseConfig,
  type DeploymentVersion,
  type EncryptionKey,
  PARTS,
  readParts,
  type ServiceConfig,
  type TemporalConfig,
  type TemporalTls,
  type WebhookSecret,
} from '#config/parts.ts';

export type ApiConfig = ReturnType<typeof readApiConfig>;
export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

const OF_PROCESSES = ['logLevel', 'tracing', 'database', 'encryptionKeys', 'temporal', 'service', 'outbound'] as const;

/** @throws ConfigurationError */
export function readApiConfig(environment: Environment = process.env) {
  const names = [...OF_PROCESSES, 'headerPrefix', 'webhookSecrets', 'webhookUrl', 'api', 'policy'] as const;
  const { policy, outbound, api, ...parts } = readParts(names, environment);
  return {
    ...parts,
    webhookAllowedAddresses: outbound.webhookAllowedAddresses,
    ...api,
    webhookSecretOverlapMs: policy.serviceWebhooks.secretOverlapMs,
    webhookToleranceMs: policy.serviceWebhooks.toleranceMs,
    /** The API shows it, the worker enforces it. */
    spendLimit: policy.gate.spendLimit,
    runway: policy.runway,
    endpointSecretOverlapMs: policy.outbound.secretOverlapMs,
    waiting: policy.waiting,
    streams: policy.streams,
  };
}

/** @throws ConfigurationError */
export function readWorkerConfig(environment: Environment = process.env) {
  const { outbound, worker, ...parts } = readParts([...OF_PROCESSES, 'worker', 'deployment', 'policy'], environment);
  return { ...parts, ...outbound, ...worker };
}

/** @throws ConfigurationError */
export function readCodecServerConfig(environment: Environment = process.env) {
  const { codec, ...parts } = readParts(['logLevel', 'encryptionKeys', 'codec'], environment);
  return { ...parts, ...codec };
}

/** @throws ConfigurationError */
export function readUiProxyConfig(environment: Environment = process.env) {
  const { temporalUi, logLevel } = readParts(['logLevel', 'temporalUi'], environment);
  return { logLevel, ...temporalUi };
}
