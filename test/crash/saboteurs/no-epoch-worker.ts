/**
 * A worker with a defect: PostgreSQL has the same epoch for ever, so a row without a send is believed also when
 * PostgreSQL has lost the claim.
 */
import { replaceModule } from '#test/crash/saboteurs/replaced-module.ts';

replaceModule('#db/connection/database-epoch.ts', new URL('one-epoch.ts', import.meta.url));
const { startWatchedWorker } = await import('#test/crash/processes/watched-worker.ts');
await startWatchedWorker();
