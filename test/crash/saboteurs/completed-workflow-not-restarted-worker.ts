/** A worker with one thing wrong: a workflow that has completed is never started again. The crash proof must notice. */
import { START_DECISIONS } from '#domain/relay/start-decision.ts';
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

Object.assign(START_DECISIONS.completed, { unfinished: 'leave' });
await startWatchedWorker();
