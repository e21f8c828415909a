/** The worker of the crash proof: the product's own, with named points in it. */
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

await startWatchedWorker();
