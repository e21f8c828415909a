/** A worker with one thing wrong: each send of a purchase has a new idempotency key. The crash proof must notice. */
import { randomUUID } from 'node:crypto';
import { startWorkerWith } from '#test/crash/saboteurs/altered-service.ts';

await startWorkerWith((client) => ({
  createOrder: (order) => client.createOrder({ ...order, idempotencyKey: randomUUID() }),
  createTopup: (topup) => client.createTopup({ ...topup, idempotencyKey: randomUUID() }),
}));
