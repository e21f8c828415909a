/** Cancelling a VPN subscription: the request, the acceptance by the service, and taking either back. */
import { eq } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { vpnSubscriptions } from '#db/schema.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { readVpnSubscription } from '#db/work/vpn-subscription-queries.ts';
import { lockWork } from '#db/work/work-rows.ts';
import type { SubscriptionEnd } from '#domain/relay/observation.ts';
import { isFinal } from '#domain/work/lifecycle.ts';

/**
 * Stores that the customer ends a subscription, wakes its workflow, and writes an entry in the audit log. A repetition
 * changes nothing.
 *
 * @param reason the caller's reason, if one was given.
 * @throws WorkMissingError
 */
export async function cancelVpnSubscription(
  tx: Executor,
  id: string,
  { actor, reason }: { readonly actor: string; readonly reason: string | undefined },
  now: Date,
): Promise<CancelRequest> {
  const result = await requestCancel(tx, id, reason, now);
  if (result !== 'requested') return result;
  const work = { kind: 'vpn_subscription', id } as const;
  await requestWake(tx, work);
  const given = reason === undefined ? {} : { reason };
  await addAuditEntry(tx, { actor, action: 'vpn_subscription.cancel', subject: work, ...given }, now);
  return result;
}

/**
 * Stores that the service accepted the cancellation, and clears the former failure.
 * @param endedAs set when the service reports that the subscription has ended.
 */
export async function noteCancelAccepted(
  tx: Executor,
  id: string,
  endedAs: SubscriptionEnd | undefined,
  now: Date,
): Promise<void> {
  const known = await readVpnSubscription(tx, id);
  await tx
    .update(vpnSubscriptions)
    .set({
      cancelAcceptedAt: known.cancelAcceptedAt ?? now,
      endedAs: known.endedAs ?? endedAs ?? null,
      failureClass: null,
      failureDetail: null,
      nextStepAt: null,
    })
    .where(eq(vpnSubscriptions.id, id));
}

/** The result of a request to cancel a subscription. */
export type CancelRequest = 'requested' | 'unchanged' | 'not_active' | 'already_ended';

/**
 * Notes that the customer ends it; its workflow cancels it at the service. The caller wakes the workflow.
 */
async function requestCancel(tx: Executor, id: string, reason: string | undefined, now: Date): Promise<CancelRequest> {
  const work = { kind: 'vpn_subscription', id } as const;
  const { status } = await lockWork(tx, work);
  const { cancelRequestedAt, completedAt } = await readVpnSubscription(tx, id);
  if (status === 'cancelled') return 'unchanged';
  if (isFinal(status)) return 'already_ended';
  if (completedAt === null) return 'not_active';
  if (cancelRequestedAt !== null) return 'unchanged';
  await tx.update(vpnSubscriptions).set({ cancelRequestedAt: now, updatedAt: now }).where(eq(vpnSubscriptions.id, id));
  await addTimelineEntry(tx, work, {
    event: 'vpn_subscription.cancel_requested',
    message:
      reason === undefined ? 'The customer ends the subscription.' : `The customer ends the subscription: ${reason}`,
    dedupKey: `vpn_subscription.cancel_requested:${now.getTime()}`,
    at: now,
  });
  return 'requested';
}

/** Forgets that the service accepted the cancellation, because no end followed: it is requested again. */
export async function forgetCancelAccepted(tx: Executor, id: string): Promise<void> {
  await tx.update(vpnSubscriptions).set({ cancelAcceptedAt: null }).where(eq(vpnSubscriptions.id, id));
}

/** Withdraws the cancellation: the subscription continues. */
export async function withdrawCancel(tx: Executor, id: string): Promise<void> {
  await tx
    .update(vpnSubscriptions)
    .set({ cancelRequestedAt: null, cancelAcceptedAt: null })
    .where(eq(vpnSubscriptions.id, id));
}
