/**
 * A worker with a defect: it judges what the last attempt cost, and not the earlier ones, whose debits may have appeared
 * since. The crash proof must detect it.
 */
import { replaceModule } from '#test/crash/saboteurs/replaced-module.ts';

replaceModule(
  '#db/attempts/attempts.ts',
  new URL('old-attempts.ts', import.meta.url),
  'activities/evidence/debit-evidence.ts',
);
const { startWatchedWorker } = await import('#test/crash/processes/watched-worker.ts');
await startWatchedWorker();
