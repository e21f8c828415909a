/** Cancellations and refunds as the API shows them. */
import { and, eq, gt, lt, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { cancellations, refunds } from '#db/schema.ts';
import { findOneOfOwner, ownRefunds, type Owner } from '#db/work/ownership.ts';
import { pagesOf, type Given, type GivenFilter, type GivenPage } from '#db/work/pagination.ts';
import type { CancellationRow, RefundRow } from '#db/work/rows.ts';
import { newest, pageOfStatuses } from '#db/work/status-pages.ts';
import { attemptFacts, newestFirst, workPage, type AttemptFacts, type WorkFilter } from '#db/work/work-queries.ts';
import type { RefundStatus } from '#domain/cancellation/refund.ts';

/** A cancellation with what its attempts and its refund add. */
export interface CancellationView extends Omit<AttemptFacts, 'serviceId'> {
  readonly cancellation: CancellationRow;
  readonly refund: RefundRow | null;
}

export interface CancellationFilter extends WorkFilter {
  readonly esimId?: string | undefined;
}

export const findCancellationView = findOneOfOwner<CancellationView>('cancellation', viewsWhere);

/** A page of cancellations, newest first. @returns a query, which runs when it is awaited. */
export function listCancellationViews(
  db: Executor,
  owner: Given<Owner>,
  filter: GivenFilter<CancellationFilter>,
  page: GivenPage,
) {
  const own = filter.esimId === undefined ? undefined : eq(cancellations.esimId, filter.esimId);
  return viewsWhere(db, workPage('cancellation', owner, filter, page, own), page.limit);
}

export const pageOfCancellations = pagesOf<CancellationFilter, CancellationView>(
  'cancellation_page',
  listCancellationViews,
);

function viewsWhere(db: Executor, where: SQL | undefined, limit: Given<number>) {
  const facts = attemptFacts(db, 'cancellation');
  return db
    .select({
      cancellation: cancellations,
      refund: refunds,
      attempts: facts.attempts,
      attemptStates: facts.attemptStates,
      inDoubt: facts.inDoubt,
    })
    .from(cancellations)
    .leftJoin(refunds, eq(refunds.cancellationId, cancellations.id))
    .crossJoinLateral(facts)
    .where(where)
    .orderBy(newestFirst('cancellation'))
    .limit(limit);
}

/** By what a list of refunds can be narrowed. */
export interface RefundFilter {
  /** One of these. */
  readonly statuses?: readonly RefundStatus[] | undefined;
  readonly esimId?: string | undefined;
  /** All exclusive. */
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly updatedAfter?: Date | undefined;
}

export async function findRefundById(db: Executor, id: string, owner: Owner): Promise<RefundRow | undefined> {
  const [row] = await db
    .select()
    .from(refunds)
    .where(and(eq(refunds.id, id), ownRefunds(db, owner)));
  return row;
}

/** A page of refunds, newest first. @returns a query, which runs when it is awaited. */
export function listRefunds(
  db: Executor,
  owner: Given<Owner>,
  filter: GivenFilter<RefundFilter>,
  { limit, after }: GivenPage,
) {
  const { statuses, esimId, createdAfter, createdBefore, updatedAfter } = filter;
  const inPage = and(
    ownRefunds(db, owner),
    esimId === undefined ? undefined : eq(refunds.esimId, esimId),
    createdAfter === undefined ? undefined : gt(refunds.createdAt, createdAfter),
    createdBefore === undefined ? undefined : lt(refunds.createdAt, createdBefore),
    updatedAfter === undefined ? undefined : gt(refunds.updatedAt, updatedAfter),
    after === undefined ? undefined : sql`(${refunds.createdAt}, ${refunds.id}) < (${after.createdAt}, ${after.id})`,
  );
  return db
    .select()
    .from(refunds)
    .where(pageOfStatuses(refunds, statuses, inPage, limit))
    .orderBy(newest(refunds.createdAt, refunds.id))
    .limit(limit);
}

export const pageOfRefunds = pagesOf<RefundFilter, RefundRow>('refund_page', listRefunds);
