/**
 * A worker with a defect: its relay judges a delivery by old data, and ignores data that another relay has stored
 * meanwhile.
 */
import { replaceModule } from '#test/crash/saboteurs/replaced-module.ts';

replaceModule('#domain/relay/relay-decision.ts', new URL('old-inbox-decision.ts', import.meta.url));
const { startWatchedWorker } = await import('#test/crash/processes/watched-worker.ts');
await startWatchedWorker();
