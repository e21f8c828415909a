import { createHash } from 'node:crypto';
import type { ReconcilePolicy, SweepPolicy } from '#domain/policy.ts';
import { findSilentAttempts, markAsked } from '#db/attempt-queries.ts';
import type { AttemptRow } from '#db/attempts.ts';
import { forgetAnswers } from '#db/idempotency.ts';
import { addReadObservation, inboxBodyPlace, readDeliveryId, requeueMatchable } from '#db/inbox.ts';
import { requestStartOfIdleOrders } from '#db/orders.ts';
import type { ServiceOrder } from '#upstream/contract.ts';
import type { MaintenanceActivities } from '#activities/maintenance-types.ts';
import { askForOrder } from '#activities/order-purchase.ts';
import type { OrderDependencies } from '#activities/order-context.ts';

export interface MaintenanceDependencies extends OrderDependencies {
  readonly reconcile: ReconcilePolicy;
  readonly sweep: SweepPolicy;
  /** Called after rows for the relay were committed. */
  readonly wakeRelay: () => void;
}

/** Makes the activities of the scheduled workflows. */
export function createMaintenanceActivities(dependencies: MaintenanceDependencies): MaintenanceActivities {
  const { database, service, reconcile, sweep, wakeRelay, now } = dependencies;

  return {
    async reconcileSilentWork() {
      const silentBefore = new Date(now() - reconcile.silentAfterMs);
      const silent = await database.run((db) => findSilentAttempts(db, { silentBefore, limit: reconcile.readsPerRun }));
      let asked = 0;
      let news = 0;
      for (const attempt of silent) {
        const found = await askForOrder(service, attempt);
        asked += 1;
        // A service that is down says nothing about the others either. One odd order must not hide the rest, though.
        if (found.kind === 'unavailable' && found.failure.class !== 'contract_drift') break;
        await database.run((db) => markAsked(db, attempt.id, new Date(now())));
        if (found.kind === 'order' && (await report(dependencies, attempt, found.order))) news += 1;
      }
      if (news > 0) wakeRelay();
      return { asked, news };
    },

    async requestIdleOrders() {
      const requested = await database.transaction((tx) =>
        requestStartOfIdleOrders(tx, {
          idleBefore: new Date(now() - sweep.idleAfterMs),
          batch: sweep.batch,
          now: new Date(now()),
        }),
      );
      const matchable = await database.run((db) => requeueMatchable(db, sweep.batch));
      if (requested + matchable > 0) wakeRelay();
      return { requested };
    },

    async forgetOldAnswers() {
      const before = new Date(now() - sweep.answersKeptMs);
      return { forgotten: await database.run((db) => forgetAnswers(db, { before, batch: sweep.batch })) };
    },
  };
}

/** Puts a finding into the inbox as an event of the same shape as a webhook's. @returns true when it is news. */
async function report({ database, keyRing }: MaintenanceDependencies, attempt: AttemptRow, order: ServiceOrder): Promise<boolean> {
  if (order.status === attempt.state) return false;
  const deliveryId = readDeliveryId(attempt.id, order.status);
  const body = Buffer.from(JSON.stringify({ event: `order.${order.status}`, data: order }), 'utf8');
  const contentHash = keyRing.hash(createHash('sha256').update(deliveryId).digest(), 'inbox.read');
  return database.run((db) =>
    addReadObservation(db, {
      attemptId: attempt.id,
      outcome: order.status,
      reference: attempt.reference,
      serviceOrderId: order.id,
      sealedBody: keyRing.seal(body, inboxBodyPlace(deliveryId)),
      bodyHash: contentHash,
      signedHash: contentHash,
    }),
  );
}
