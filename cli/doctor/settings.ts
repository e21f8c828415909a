import {
  type DatabaseConfig,
  type EncryptionKey,
  readApiConfig,
  readCodecServerConfig,
  readDatabaseConfig,
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

/** The configuration in the parts that checks need. A part with a problem is undefined. */
export interface DoctorSettings {
  /** Problems of all processes, without duplicates. */
  readonly problems: readonly string[];
  readonly database: DatabaseConfig | undefined;
  readonly encryptionKeys: readonly EncryptionKey[] | undefined;
  readonly temporal: TemporalConfig | undefined;
  readonly service: ServiceConfig | undefined;
  readonly webhook: WebhookAddressConfig | undefined;
}

/** Reads the configuration of all processes, and collects every problem. */
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
  for (const wholeProcess of [readApiConfig, readWorkerConfig, readCodecServerConfig]) read<unknown>(wholeProcess);
  return {
    database: read(readDatabaseConfig)?.database,
    encryptionKeys: read(readEncryptionKeys),
    temporal: read(readTemporalConfig),
    service: read(readServiceConfig),
    webhook: read(readWebhookAddressConfig),
    problems: [...problems],
  };
}
