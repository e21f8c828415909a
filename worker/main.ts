import { readWorkerConfig } from '#config/config.ts';
import { exitOnConfigurationError } from '#config/configuration-error.ts';
import { runWorker } from '#worker/run.ts';

/**
 * Time to end after everything was closed. Only calls to a Temporal that does not answer keep the process alive then.
 */
const EXIT_AFTER_MS = 1_000;

await runWorker(exitOnConfigurationError(() => readWorkerConfig()));
setTimeout(() => process.exit(), EXIT_AFTER_MS).unref();
