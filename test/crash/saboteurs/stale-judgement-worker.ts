/** A worker with a defect: its relay judges a delivery by old data, also if another relay has stored newer data. */
import { replaceModule } from '#test/crash/saboteurs/replaced-module.ts';

replaceModule('#domain/relay/relay-decision.ts', new URL('old-inbox-decision.ts', import.meta.url));
await import('#test/crash/processes/worker.ts');
