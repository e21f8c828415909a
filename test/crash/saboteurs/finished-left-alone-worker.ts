/** A worker with one thing wrong: a workflow that has completed is never started again. The crash proof must notice. */
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

await startWatchedWorker();
