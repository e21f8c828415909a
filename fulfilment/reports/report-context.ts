/** Merges a report with what is known of a subscription or a refund. */
import type { Executor } from '#db/connection/database.ts';
import { readVpnSubscription } from '#db/work/vpn-subscriptions.ts';
import { cancellationOutcome, isCancelled, judgeRefund, mergeReports } from '#domain/cancellation/refund.ts';
import { judgeSubscriptionEnd, type ObservationDecision } from '#domain/relay/observation.ts';
import type { PurchaseEvent } from '#domain/relay/purchase-event.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { knownReports } from '#fulfilment/work/cancellation.ts';
import { newEndOf } from '#fulfilment/work/subscription.ts';

export interface ReportInContext {
  /** The report, with the outcome that it has together with earlier ones. */
  readonly event: PurchaseEvent;
  /** What it means for what follows the purchase. */
  readonly followUp: ObservationDecision;
  /** True when it names something about a bought subscription that is not stored yet. */
  readonly isNew?: boolean;
}

/** A piece of work that is locked. */
interface ReportedWork {
  readonly work: WorkRef;
  readonly row: { readonly status: WorkStatus };
}

/** A report about a VPN subscription, with the decision about its end and about what is not stored yet. */
export async function subscriptionInContext(
  tx: Executor,
  { work }: ReportedWork,
  event: PurchaseEvent,
): Promise<ReportInContext> {
  const known = await readVpnSubscription(tx, work.id);
  const { startedAt, expiresAt } = event;
  const fills =
    (known.encryptedAccess === null && event.access !== undefined) ||
    (known.startedAt === null && startedAt !== undefined) ||
    (known.expiresAt === null && expiresAt !== undefined);
  const told = { endedAs: event.endedAs, expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt) };
  const isNew = fills || newEndOf(known, told) !== undefined;
  const end = judgeSubscriptionEnd(known.endedAs ?? undefined, event.endedAs);
  return { event, followUp: isNew ? 'advance' : end, isNew };
}

/** A report about a cancellation, merged with the earlier reports about eSIM and refund. */
export async function cancellationInContext(
  tx: Executor,
  { work, row: { status } }: ReportedWork,
  event: PurchaseEvent,
): Promise<ReportInContext> {
  const { cancellation } = event;
  if (cancellation === undefined) return { event, followUp: 'known' };
  const known = await knownReports(tx, work.id);
  const isCancelledNow = isCancelled(cancellation) && known.esim !== 'cancelled';
  // It ended with the eSIM not cancelled.
  const isDenied = isCancelledNow && (status === 'refused' || status === 'abandoned');
  const refund = isDenied ? 'contradiction' : judgeRefund(known.refund, cancellation.refund);
  return {
    event: { ...event, outcome: cancellationOutcome(mergeReports(known, cancellation)) },
    followUp: refund === 'known' && isCancelledNow ? 'advance' : refund,
  };
}
