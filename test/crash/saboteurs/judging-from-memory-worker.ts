/**
 * A worker with one thing wrong: its relay judges a delivery by the row as it was when it was taken. The crash proof
 * must notice.
 */
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

await startWatchedWorker();
