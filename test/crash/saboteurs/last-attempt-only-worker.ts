/** A worker with a defect: it judges only what the last attempt cost, although earlier debits may appear later. */
import { replaceModule } from '#test/crash/saboteurs/replaced-module.ts';

// The present rule would refuse the proof for other reasons.
replaceModule('#domain/money/absence.ts', new URL('old-absence.ts', import.meta.url));
replaceModule('#db/work/attempts.ts', new URL('old-attempts.ts', import.meta.url), 'fulfilment/purchase/evidence.ts');
await import('#test/crash/processes/worker.ts');
