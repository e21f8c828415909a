/**
 * A worker with a defect: the key of an attempt is random when its row is written, so an attempt whose row was lost
 * gets another key.
 */
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';
import { randomiseHash } from '#test/crash/saboteurs/random-hash.ts';

randomiseHash('attempt_idempotency_key');
await startWatchedWorker();
