import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import type { Logger } from '#telemetry/logger.ts';

/**
 * Passes the log entries of the Temporal SDK (worker, core, workflows, activities) to our logger, which redacts them:
 * `Runtime.install({ logger: createSdkLogger(logger) })`.
 */
export function createSdkLogger(logger: Logger): DefaultLogger {
  // All levels: our logger filters by its own level.
  return new DefaultLogger('TRACE', (entry) => write(logger, entry));
}

/** Said at each start of a worker that only carries out activities, as ours for purchases, reads and upkeep do. */
const WITHOUT_WORKFLOWS = /^No workflows registered\b/;

function write(logger: Logger, { level, message, meta }: LogEntry): void {
  const { error, ...fields } = (meta ?? {}) as Record<string, unknown>;
  const shown = error === undefined ? fields : { ...fields, err: error };
  switch (level) {
    case 'TRACE':
      return logger.trace(shown, message);
    case 'DEBUG':
      return logger.debug(shown, message);
    case 'INFO':
      return logger.info(shown, message);
    case 'WARN':
      return WITHOUT_WORKFLOWS.test(message) ? logger.debug(shown, message) : logger.warn(shown, message);
    case 'ERROR':
      return logger.error(shown, message);
  }
}
