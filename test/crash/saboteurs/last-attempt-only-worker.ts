/**
 * A worker with a defect: it judges what the last attempt cost, and not the earlier ones, whose debits may have appeared
 * since.
 */
import { replaceModule } from '#test/crash/saboteurs/replaced-module.ts';

// The present rule would refuse the proof for other reasons.
replaceModule('#domain/money/absence.ts', new URL('old-absence.ts', import.meta.url));
replaceModule('#db/work/attempts.ts', new URL('old-attempts.ts', import.meta.url), 'fulfilment/purchase/evidence.ts');
const { startWatchedWorker } = await import('#test/crash/processes/watched-worker.ts');
await startWatchedWorker();
