/** Cancellations and refunds as the API shows them. */
import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { RefundStatus } from '#domain/refund.ts';
import type { RefundRow } from '#db/cancellation-facts.ts';
import type { CancellationRow } from '#db/cancellations.ts';
import type { Executor } from '#db/database.ts';
import { ownRefunds, ownWork, type Owner } from '#db/ownership.ts';
import { cancellations, refunds } from '#db/schema.ts';
import { attemptFacts, newestFirst, workConditions, type AttemptFacts, type PageOptions, type WorkFilter } from '#db/work-queries.ts';

/** A cancellation with what its attempts and its refund add. */
export interface CancellationView extends Omit<AttemptFacts, 'serviceId'> {
  readonly cancellation: CancellationRow;
  readonly refund: RefundRow | null;
}

export interface CancellationFilter extends WorkFilter {
  readonly esimId?: string | undefined;
}

export async function findCancellationView(db: Executor, id: string, owner: Owner): Promise<CancellationView | undefined> {
  const [view]: CancellationView[] = await viewsWhere(db, and(eq(cancellations.id, id), ownWork('cancellation', owner)), 1);
  return view;
}

/** A page of cancellations, newest first. @returns a query, which runs when it is awaited. */
export function listCancellationViews(db: Executor, owner: Owner, filter: CancellationFilter, { limit, after }: PageOptions) {
  const where = and(
    workConditions('cancellation', owner, filter, after),
    filter.esimId === undefined ? undefined : eq(cancellations.esimId, filter.esimId),
  );
  return viewsWhere(db, where, limit);
}

function viewsWhere(db: Executor, where: SQL | undefined, limit: number) {
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
  readonly status?: RefundStatus | undefined;
  readonly esimId?: string | undefined;
}

export async function findRefundById(db: Executor, id: string, owner: Owner): Promise<RefundRow | undefined> {
  const [row] = await db.select().from(refunds).where(and(eq(refunds.id, id), ownRefunds(db, owner)));
  return row;
}

/** A page of refunds, newest first. */
export async function listRefunds(
  db: Executor,
  owner: Owner,
  { status, esimId }: RefundFilter,
  { limit, after }: PageOptions,
): Promise<RefundRow[]> {
  return db
    .select()
    .from(refunds)
    .where(
      and(
        ownRefunds(db, owner),
        status === undefined ? undefined : eq(refunds.status, status),
        esimId === undefined ? undefined : eq(refunds.esimId, esimId),
        after === undefined ? undefined : sql`(${refunds.createdAt}, ${refunds.id}) < (${after.createdAt}, ${after.id})`,
      ),
    )
    .orderBy(sql`${refunds.createdAt} desc nulls last, ${refunds.id} desc nulls last`)
    .limit(limit);
}
