/**
 * A worker with one thing wrong: it sends without a look whether its lease still holds. The crash proof must notice.
 */
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

await startWatchedWorker();
