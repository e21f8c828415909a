import { readWorkerConfig } from '#config/config.ts';
import { exitOnConfigurationError } from '#config/configuration-error.ts';
import { runWorker } from '#worker/run.ts';

/** Time limit after everything was closed: a Temporal that does not answer keeps the process alive. */
const EXIT_AFTER_MS = 1_000;

await runWorker(exitOnConfigurationError(() => readWorkerConfig()));
setTimeout(() => process.exit(), EXIT_AFTER_MS).unref();
