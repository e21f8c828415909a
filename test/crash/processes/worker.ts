import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

await startWatchedWorker();
