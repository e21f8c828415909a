/** A worker with a defect: a new row of an attempt gets a random key, another one if the row was lost. */
import { randomiseHash } from '#test/crash/saboteurs/random-hash.ts';

randomiseHash('attempt_idempotency_key');
await import('#test/crash/processes/worker.ts');
