/** A worker with a defect: each send of a purchase has a new idempotency key. */
import { randomUUID } from 'node:crypto';
import { startWorkerWith } from '#test/crash/saboteurs/altered-service.ts';

await startWorkerWith((client) => ({
  createOrder: (order) => client.createOrder({ ...order, idempotencyKey: randomUUID() }),
  createTopup: (topup) => client.createTopup({ ...topup, idempotencyKey: randomUUID() }),
}));
