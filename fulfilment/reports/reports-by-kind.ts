/** Finding the attempt of a report that names no more than an eSIM. */
import { and, desc, eq, isNotNull, isNull, lte } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts, topups } from '#db/schema.ts';
import type { StoredStart, WorkRow } from '#db/work/kinds.ts';
import { readVpnSubscription } from '#db/work/vpn-subscription-queries.ts';
import { cancellationOutcome, isCancelled, judgeRefund, mergeReports } from '#domain/cancellation/refund.ts';
import { judgeSubscriptionEnd, type ObservationDecision, type PurchaseEvent } from '#domain/relay/observation.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { knownReports } from '#fulfilment/work/record-cancellation.ts';
import { newEndOf } from '#fulfilment/work/record-subscription.ts';

/** The names in an event by which its attempt is found. Without a service id the eSIM identifies the cancellation. */
export interface NamedPurchase extends Pick<
  PurchaseEvent,
  'kind' | 'outcome' | 'serviceId' | 'reference' | 'serviceEsimId' | 'productId' | 'cancellation'
> {
  readonly receivedAt: Date;
}

/** The attempt that an inbox row is about, with its work. */
export interface InboxMatch {
  readonly attempt: typeof attempts.$inferSelect;
  readonly work: WorkRef;
  /** The row of the work. */
  readonly row: WorkRow;
  /** Id of the ordered package or VPN plan; null for a kind that orders nothing. */
  readonly orderedProduct: number | null;
  /** What a workflow of the work starts with. */
  readonly start: StoredStart | null;
  /** True for the current attempt of the work. */
  readonly isCurrent: boolean;
}

/** Allowed difference between the clocks of a worker and of PostgreSQL. */
const CLOCKS_DIFFER_MS = 10_000;

/** The newest cancellation attempt of an eSIM; only one can be under way. */
export async function findNewestCancellation(
  db: Executor,
  { serviceEsimId, cancellation, receivedAt }: NamedPurchase,
): Promise<{ readonly id: string; readonly subjectId: string } | undefined> {
  if (serviceEsimId === undefined) return undefined;
  // The failure of a refund may be about an earlier one; it can be ours only if ours was sent before.
  const isOfSent = cancellation?.esim === undefined && cancellation?.refund?.state === 'failed';
  const [found] = await db
    .select({ id: attempts.id, subjectId: attempts.subjectId })
    .from(attempts)
    .where(
      and(
        eq(attempts.subjectKind, 'cancellation'),
        eq(attempts.serviceEsimId, serviceEsimId),
        isOfSent ? lte(attempts.firstSentAt, new Date(receivedAt.getTime() + CLOCKS_DIFFER_MS)) : undefined,
      ),
    )
    .orderBy(desc(attempts.createdAt), desc(attempts.number))
    .limit(1);
  return found;
}

/**
 * The one unsettled top-up of an eSIM that has no service id yet. A failure is never matched this way: somebody may
 * have tried the same top-up by hand, and after that failure we would buy a second time. Our top-up is then looked up
 * by its id, or a person decides.
 */
export async function findUnsettledTopup(
  db: Executor,
  { serviceEsimId, productId, outcome }: NamedPurchase,
): Promise<{ readonly id: string; readonly subjectId: string } | undefined> {
  if (serviceEsimId === undefined || outcome === 'failed') return undefined;
  const [found] = await db
    .select({ id: attempts.id, subjectId: attempts.subjectId })
    .from(attempts)
    .innerJoin(topups, eq(topups.id, attempts.subjectId))
    .where(
      and(
        eq(attempts.subjectKind, 'topup'),
        eq(attempts.serviceEsimId, serviceEsimId),
        isNotNull(attempts.busyEsimId),
        isNull(attempts.serviceId),
        productId === undefined ? undefined : eq(topups.packageId, productId),
      ),
    );
  return found;
}

/** Merges a report with what is known of a subscription or a refund. */

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
