import { createWorkActivities } from '#activities/work/work-activities.ts';
import { ServiceTokenStore } from '#db/service/service-tokens.ts';
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { openService } from '#upstream/service.ts';
import { policyInForce } from '#worker/composition.ts';

/** Starts a worker with a changed client of the service. @param alter returns the changed calls. */
export async function startWorkerWith(alter: (client: ServiceClient) => Partial<ServiceClient>): Promise<void> {
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
        service: { ...client, ...alter(client) },
        sendLeaseMs: policy.purchase.sendLeaseMs,
        purchaseInForce: async (db) => (await policyInForce(db, policy, service.mode)).purchase,
        gate: policy.gate,
        now: Date.now,
      });
    },
  });
}
