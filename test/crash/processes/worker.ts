/** The worker of the crash proof: the worker of the product, with named points. */
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

await startWatchedWorker();
