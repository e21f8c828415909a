import {
  type DatabaseConfig,
  type DeploymentVersion,
  type EncryptionKey,
  readApiConfig,
  readCodecServerConfig,
  readDatabaseConfig,
  readDeploymentVersion,
  readEncryptionKeys,
  readServiceConfig,
  readTemporalConfig,
  readWebhookAddressConfig,
  readWorkerConfig,
  type ServiceConfig,
  type TemporalConfig,
  type WebhookAddressConfig,
} from '#config/config.ts';
import { ConfigurationError, problemText } from '#config/configuration-error.ts';
import type { Environment } from '#config/environment.ts';

/** A part with a problem is undefined. */
export interface DoctorSettings {
  readonly problems: readonly string[];
  readonly database: DatabaseConfig | undefined;
  readonly encryptionKeys: readonly EncryptionKey[] | undefined;
  readonly temporal: TemporalConfig | undefined;
  /** An object of its own, because workers need no version. */
  readonly workers: { readonly version: DeploymentVersion | undefined } | undefined;
  readonly service: ServiceConfig | undefined;
  readonly webhook: WebhookAddressConfig | undefined;
  readonly webhookToleranceMs: number | undefined;
}

export function readSettings(environment: Environment): DoctorSettings {
  const problems = new Set<string>();
  const read = <Part>(reader: (environment: Environment) => Part): Part | undefined => {
    try {
      return reader(environment);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      for (const problem of error.problems) problems.add(problemText(problem));
      return undefined;
    }
  };
  const api = read(readApiConfig);
  for (const wholeProcess of [readWorkerConfig, readCodecServerConfig]) read<unknown>(wholeProcess);
  return {
    database: read(readDatabaseConfig)?.database,
    encryptionKeys: read(readEncryptionKeys),
    temporal: read(readTemporalConfig),
    workers: read((from) => ({ version: readDeploymentVersion(from) })),
    service: read(readServiceConfig),
    webhook: read(readWebhookAddressConfig),
    webhookToleranceMs: api?.webhookToleranceMs,
    problems: [...problems],
  };
}
