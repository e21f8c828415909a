/** A worker with one thing wrong: each send of a purchase has a new idempotency key. The crash proof must notice. */
import { randomUUID } from 'node:crypto';
import { createWorkActivities } from '#activities/work.ts';
import { ServiceTokenStore } from '#db/service-tokens.ts';
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';
import { openService } from '#upstream/service.ts';
import { policyInForce } from '#worker/policy-in-force.ts';

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
        createOrder: (order) => client.createOrder({ ...order, idempotencyKey: randomUUID() }),
        createTopup: (topup) => client.createTopup({ ...topup, idempotencyKey: randomUUID() }),
      },
      sendLeaseMs: policy.purchase.sendLeaseMs,
      purchaseInForce: async (db) => (await policyInForce(db, policy, service.mode)).purchase,
      gate: policy.gate,
      now: Date.now,
    });
  },
});
