/** Finding the attempt of a report that names no more than an eSIM. */
import { and, desc, eq, isNotNull, isNull, lte } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts, topups } from '#db/schema.ts';
import type { StoredStart, WorkRow } from '#db/work/rows.ts';
import type { PurchaseEvent } from '#domain/relay/purchase-event.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

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
