/** A worker with a defect: the epoch never changes, so a row without a send is believed also after a lost claim. */
import { replaceModule } from '#test/crash/saboteurs/replaced-module.ts';

replaceModule('#db/connection/database-epoch.ts', new URL('one-epoch.ts', import.meta.url));
await import('#test/crash/processes/worker.ts');
