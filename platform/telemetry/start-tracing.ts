import type { TracingConfig } from '#config/tracing.ts';
import type { Logger } from '#telemetry/logger.ts';

/** Tracing of this process, which has been started or is off. */
export interface Tracing {
  /** Exports the spans that wait. Resolves within some seconds, also when the receiver does not answer. */
  stop(): Promise<void>;
}

/**
 * Starts the export of spans, once in a process, before anything is traced.
 *
 * @param config undefined: tracing is off, and the SDK is not loaded.
 * @param process `api` or `worker`.
 */
export async function startTracing(
  config: TracingConfig | undefined,
  process: string,
  logger: Logger,
): Promise<Tracing> {
  if (config === undefined) return { stop: async () => undefined };
  const { startSdk } = await import('#telemetry/tracing-sdk.ts');
  return startSdk(config, process, logger);
}
