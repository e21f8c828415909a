import { PARTS, readApiConfig, readCodecServerConfig, readWorkerConfig } from '#config/config.ts';
import { ConfigurationError, problemText } from '#config/configuration-error.ts';
import type { Environment } from '#config/environment.ts';

export type DoctorSettings = ReturnType<typeof readSettings>;

/** A part with a problem is undefined. */
export function readSettings(environment: Environment) {
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
    database: read(PARTS.database),
    encryptionKeys: read(PARTS.encryptionKeys),
    temporal: read(PARTS.temporal),
    /** An object of its own, because workers need no version. */
    workers: read((from) => ({ version: PARTS.deployment(from) })),
    service: read(PARTS.service),
    webhook: read((from) => ({
      url: PARTS.webhookUrl(from),
      headerPrefix: PARTS.headerPrefix(from),
      secrets: PARTS.webhookSecrets(from),
    })),
    webhookToleranceMs: api?.webhookToleranceMs,
    problems: [...problems],
  };
}
