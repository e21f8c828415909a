import { accessAad } from '#db/encryption-aads.ts';
import { currentAttempt } from '#db/work/attempts.ts';
import { lockUnfinishedWork } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import type { SubscriptionActivities } from '#domain/purchase/results.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { noteOf, type WorkDependencies } from '#fulfilment/purchase/handler.ts';
import { subscriptionReport } from '#fulfilment/purchase/vpn-subscription.ts';
import { noteCancelAccepted, storeSubscriptionReport } from '#fulfilment/work/subscription.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';
import type { VpnSubscription } from '#upstream/contract.ts';

/** Failures that a repeated call would give again. */
const REFUSALS: ReadonlySet<FailureClass> = new Set(['cancellation_refused', 'invalid_request']);

export function createSubscription({ database, keyRing, service, now }: WorkDependencies): SubscriptionActivities {
  /** @throws Error when nothing was bought; no workflow calls it then. */
  const serviceIdOf = async (work: WorkRef): Promise<string> => {
    const attempt = await database.run((db) => currentAttempt(db, work));
    if (attempt?.serviceId == null) throw new Error(`${work.id} has no id of the service`);
    return attempt.serviceId;
  };
  const store = (work: WorkRef, subscription: VpnSubscription) =>
    database.transaction(async (tx) => {
      await lockUnfinishedWork(tx, work);
      const facts = subscriptionReport(subscription, (access) =>
        keyRing.encrypt(JSON.stringify(access), accessAad(work.id)),
      );
      await storeSubscriptionReport(tx, work.id, facts, new Date(now()));
    });

  return {
    async cancelSubscription({ work }) {
      const answer = await service.cancelVpnSubscription(await serviceIdOf(work));
      if (!answer.ok) {
        if (answer.status !== undefined && REFUSALS.has(answer.failure)) {
          return { kind: 'refused', detail: answer.detail };
        }
        return unavailable(answer);
      }
      const { value } = answer;
      await database.transaction(async (tx) => {
        await lockUnfinishedWork(tx, work);
        await noteCancelAccepted(
          tx,
          work.id,
          value.kind === 'already_cancelled' ? 'cancelled' : undefined,
          new Date(now()),
        );
        await addTimelineEntry(tx, work, {
          event: 'vpn_subscription.cancel_accepted',
          message: 'The service has accepted the cancellation.',
          dedupKey: 'vpn_subscription.cancel_accepted',
        });
      });
      if (value.kind === 'accepted') await store(work, value.subscription);
      return { kind: 'accepted' };
    },

    async lookUpSubscription({ work }) {
      const read = await service.getVpnSubscription(await serviceIdOf(work));
      if (read.ok) {
        await store(work, read.value);
        return { kind: 'found' };
      }
      if (read.kind === 'unsupported')
        return { kind: 'not_known', detail: 'This service has no call that reads a subscription.' };
      // A proxy or a wrong address may answer 404, too: only the service's own code counts.
      if (read.status === 404 && read.code === 'not_found')
        return { kind: 'not_known', detail: 'The service no longer knows this subscription.' };
      return unavailable(read);
    },
  };
}

/** Proves nothing about the subscription: the workflow waits and tries again. */
function unavailable(failed: ServiceFailure) {
  return {
    kind: 'unavailable',
    failure: noteOf(failed),
    ...(failed.retryAfterMs !== undefined && { retryAfterMs: failed.retryAfterMs }),
  } as const;
}
