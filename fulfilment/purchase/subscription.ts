import { currentAttempt } from '#db/work/attempts.ts';
import { lockUnfinishedWork } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import type { CancellationResult, SubscriptionLookUp } from '#domain/purchase/results.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { failureNote } from '#fulfilment/purchase/offer.ts';
import { subscriptionReport } from '#fulfilment/purchase/vpn-subscription.ts';
import { noteCancelAccepted, storeSubscriptionReport } from '#fulfilment/work/subscription.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';
import type { VpnSubscription } from '#upstream/contract.ts';

/** Failures that a repeated call would give again. */
const REFUSALS: ReadonlySet<FailureClass> = new Set(['cancellation_refused', 'invalid_request']);

export async function cancelSubscription(
  dependencies: WorkDependencies,
  { work }: { readonly work: WorkRef },
): Promise<CancellationResult> {
  const { database, service, now } = dependencies;
  const answer = await service.cancelVpnSubscription(await serviceIdOf(dependencies, work));
  if (!answer.ok) {
    const isRefused = answer.status !== undefined && REFUSALS.has(answer.failure);
    return isRefused ? { kind: 'refused', detail: answer.detail } : unavailable(answer);
  }
  const { value } = answer;
  await database.transaction(async (tx) => {
    await lockUnfinishedWork(tx, work);
    const endedAs = value.kind === 'already_cancelled' ? 'cancelled' : undefined;
    await noteCancelAccepted(tx, work.id, endedAs, new Date(now()));
    const event = 'vpn_subscription.cancel_accepted';
    const message = 'The service has accepted the cancellation.';
    await addTimelineEntry(tx, work, { event, message, dedupKey: event });
  });
  if (value.kind === 'accepted') await store(dependencies, work, value.subscription);
  return { kind: 'accepted' };
}

export async function lookUpSubscription(
  dependencies: WorkDependencies,
  { work }: { readonly work: WorkRef },
): Promise<SubscriptionLookUp> {
  const read = await dependencies.service.getVpnSubscription(await serviceIdOf(dependencies, work));
  if (read.ok) {
    await store(dependencies, work, read.value);
    return { kind: 'found' };
  }
  if (read.kind === 'unsupported')
    return { kind: 'not_known', detail: 'This service has no call that reads a subscription.' };
  // A proxy or a wrong address may answer 404, too: only the service's own code proves it.
  if (read.status === 404 && read.code === 'not_found')
    return { kind: 'not_known', detail: 'The service no longer knows this subscription.' };
  return unavailable(read);
}

/** @throws Error when nothing was bought; no workflow calls it then. */
async function serviceIdOf({ database }: WorkDependencies, work: WorkRef): Promise<string> {
  const attempt = await database.run((db) => currentAttempt(db, work));
  if (attempt?.serviceId == null) throw new Error(`${work.id} has no id of the service`);
  return attempt.serviceId;
}

async function store({ database, keyRing, now }: WorkDependencies, work: WorkRef, subscription: VpnSubscription) {
  const report = subscriptionReport(keyRing, work.id, subscription);
  await database.transaction(async (tx) => {
    await lockUnfinishedWork(tx, work);
    await storeSubscriptionReport(tx, work.id, report, new Date(now()));
  });
}

/** Proves nothing about the subscription: the workflow waits and tries again. */
function unavailable(failed: ServiceFailure) {
  const { retryAfterMs } = failed;
  return {
    kind: 'unavailable',
    failure: failureNote(failed),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  } as const;
}
