/** A worker with a defect: it never starts a completed workflow again. */
import { START_DECISIONS } from '#domain/relay/relay-decision.ts';
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

Object.assign(START_DECISIONS.completed, { unfinished: 'leave' });
await startWatchedWorker();
