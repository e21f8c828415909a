/**
 * A worker with one thing wrong: what it sends does not look at its lease any more. A proof that stops it between claim
 * and wire must notice.
 */
import { startWorkerWith } from '#test/crash/saboteurs/altered-service.ts';

const forGood = { leaseLeftMs: () => Infinity };

await startWorkerWith((client) => ({
  createOrder: (order) => client.createOrder({ ...order, ...forGood }),
  createTopup: (topup) => client.createTopup({ ...topup, ...forGood }),
  createVpnOrder: (order) => client.createVpnOrder({ ...order, ...forGood }),
}));
