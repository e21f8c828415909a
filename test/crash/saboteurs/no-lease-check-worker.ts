/** A worker with one thing wrong: what it sends does not look at its lease any more. A proof that stops it between claim and wire must notice. */
import { createWorkActivities } from '#activities/work.ts';
import { ServiceTokenStore } from '#db/service-tokens.ts';
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';
import { openService } from '#upstream/service.ts';
import { policyInForce } from '#worker/policy-in-force.ts';

const forGood = { leaseLeftMs: () => Infinity };

await startWatchedWorker({
  activities: ({ policy, service }, { database, keyRing }) => {
    const { client } = openService({
      ...service,
      deadlineMs: policy.purchase.sendDeadlineMs,
      tokens: new ServiceTokenStore({ database, keyRing, environment: service.mode, account: service.email }),
      now: Date.now,
    });
    return createWorkActivities({
      database,
      keyRing,
      service: {
        ...client,
        createOrder: (order) => client.createOrder({ ...order, ...forGood }),
        createTopup: (topup) => client.createTopup({ ...topup, ...forGood }),
        createVpnOrder: (order) => client.createVpnOrder({ ...order, ...forGood }),
      },
      sendLeaseMs: policy.purchase.sendLeaseMs,
      purchaseInForce: async (db) => (await policyInForce(db, policy, service.mode)).purchase,
      gate: policy.gate,
      now: Date.now,
    });
  },
});
