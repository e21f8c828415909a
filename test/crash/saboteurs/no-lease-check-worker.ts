/** A worker with a defect: its sends do not check their lease. */
import { startWorkerWith } from '#test/crash/saboteurs/altered-service.ts';

const withoutEnd = { leaseLeftMs: () => Infinity };

await startWorkerWith((client) => ({
  createOrder: (order) => client.createOrder({ ...order, ...withoutEnd }),
  createTopup: (topup) => client.createTopup({ ...topup, ...withoutEnd }),
  createVpnOrder: (order) => client.createVpnOrder({ ...order, ...withoutEnd }),
}));
