import { readWorkerConfig } from '#config/config.ts';
import { exitOnConfigurationError } from '#config/fields.ts';
import { runWorker } from '#worker/run.ts';

await runWorker(exitOnConfigurationError(() => readWorkerConfig()));
