import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { vpnSubscriptions } from '#db/schema.ts';
/** VPN subscriptions as the API accepts them and as their activities see them, beyond what all work has (`work.ts`). */
import type { VpnSubscriptionRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import type { SubscriptionEnd } from '#domain/relay/observation.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { acceptWork, intakeColumns, type Intake, type NewWork } from '#fulfilment/work/accept-work.ts';
import { newsColumns } from '#fulfilment/work/work-events.ts';
import { lockWork, WorkMissingError } from '#fulfilment/work/work.ts';

/** @throws WorkMissingError */
export async function readVpnSubscription(db: Executor, id: string): Promise<VpnSubscriptionRow> {
  const [row] = await db.select().from(vpnSubscriptions).where(eq(vpnSubscriptions.id, id));
  if (row === undefined) throw new WorkMissingError({ kind: 'vpn_subscription', id });
  return row;
}

/** The additional authenticated data of the customer reference of a subscription. */
export function customerReferenceAad(id: string): string {
  return `vpn_subscriptions.encrypted_customer_reference/${id}`;
}

/** The additional authenticated data of the access data of a subscription. */
export function accessAad(id: string): string {
  return `vpn_subscriptions.encrypted_access/${id}`;
}

export interface NewVpnSubscription extends NewWork {
  readonly externalSubscriptionId: string;
  readonly vpnPlanId: number;
  /** Encrypted for {@link customerReferenceAad}. */
  readonly encryptedCustomerReference: Buffer;
  /** Keyed hash of the same, to find it by. */
  readonly customerReferenceHash: Buffer;
  /** Exact decimal, in the currency of the plan. */
  readonly customerPrice: string;
}

/** Accepts a subscription, in the caller's transaction. */
export async function acceptVpnSubscription(
  tx: Executor,
  subscription: NewVpnSubscription,
  now: Date,
): Promise<Intake> {
  const { id, externalSubscriptionId, vpnPlanId, encryptedCustomerReference, customerReferenceHash, customerPrice } =
    subscription;
  const own = { externalSubscriptionId, vpnPlanId, encryptedCustomerReference, customerReferenceHash, customerPrice };
  const { id: column, externalSubscriptionId: reference } = vpnSubscriptions;
  return acceptWork(
    tx,
    { kind: 'vpn_subscription', id },
    {
      insert: () =>
        tx
          .insert(vpnSubscriptions)
          .values({ ...intakeColumns(subscription, now), ...own })
          .onConflictDoNothing()
          .returning(newsColumns('vpn_subscription')),
      holder: () => tx.select({ id: column }).from(vpnSubscriptions).where(eq(reference, externalSubscriptionId)),
      detail: { vpn_plan_id: vpnPlanId },
    },
    now,
  );
}

/** What the service says of a subscription that it has sold. */
export interface SubscriptionFacts {
  readonly startedAt?: Date | undefined;
  readonly expiresAt?: Date | undefined;
  readonly endedAs?: SubscriptionEnd | undefined;
  /** Encrypted for {@link accessAad}. */
  readonly encryptedAccess?: Buffer | undefined;
}

/**
 * Stores what the service says; what it does not say stays. An end stays an end. The caller holds the lock of the work.
 */
export async function storeSubscriptionFacts(tx: Executor, id: string, facts: SubscriptionFacts): Promise<void> {
  const { startedAt, expiresAt, endedAs, encryptedAccess } = facts;
  const known = await readVpnSubscription(tx, id);
  await tx
    .update(vpnSubscriptions)
    .set({
      startedAt: startedAt ?? known.startedAt,
      expiresAt: expiresAt ?? known.expiresAt,
      endedAs: known.endedAs ?? endedAs ?? null,
      encryptedAccess: encryptedAccess ?? known.encryptedAccess,
    })
    .where(eq(vpnSubscriptions.id, id));
}

/**
 * Notes that the service took the cancellation; what had kept it from that is over. @param endedAs when it says that it
 * has ended.
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

/** What became of a customer's wish to end a subscription. */
export type CancelRequest = 'requested' | 'unchanged' | 'not_active' | 'already_ended';

/**
 * Notes that the customer ends it; its workflow cancels it at the service. The caller wakes the workflow. @param why
 * where it was said.
 */
export async function requestCancel(
  tx: Executor,
  id: string,
  why: string | undefined,
  now: Date,
): Promise<CancelRequest> {
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
    message: why === undefined ? 'The customer ends the subscription.' : `The customer ends the subscription: ${why}`,
    dedupKey: `vpn_subscription.cancel_requested:${now.getTime()}`,
    at: now,
  });
  return 'requested';
}

/** The service is to be asked to cancel once more: that it had accepted has led to nothing. */
export async function forgetCancelAccepted(tx: Executor, id: string): Promise<void> {
  await tx.update(vpnSubscriptions).set({ cancelAcceptedAt: null }).where(eq(vpnSubscriptions.id, id));
}

/** The subscription goes on after all. */
export async function withdrawCancel(tx: Executor, id: string): Promise<void> {
  await tx
    .update(vpnSubscriptions)
    .set({ cancelRequestedAt: null, cancelAcceptedAt: null })
    .where(eq(vpnSubscriptions.id, id));
}
