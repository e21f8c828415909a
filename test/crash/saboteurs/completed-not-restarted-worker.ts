/** A worker with a defect: it never starts a completed workflow again. */
import { START_DECISIONS } from '#domain/relay/relay-decision.ts';

Object.assign(START_DECISIONS.completed, { unfinished: 'leave' });
await import('#test/crash/processes/worker.ts');
