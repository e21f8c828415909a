/** Orders as the API shows them. */
import { and, asc, eq, gt, lt, sql, type SQL } from 'drizzle-orm';
import type { AttentionReason } from '#domain/attention.ts';
import type { FailureClass } from '#domain/failure.ts';
import type { StatusOf } from '#domain/lifecycle.ts';
import type { Executor } from '#db/database.ts';
import { attempts, orders, timeline } from '#db/schema.ts';

/** An order with what its attempts add. */
export interface OrderView {
  readonly order: typeof orders.$inferSelect;
  /** How often it was tried to buy. */
  readonly attempts: number;
  /** The service's id of the latest attempt that it knows. */
  readonly serviceOrderId: string | null;
}

export interface OrderFilter {
  readonly status?: StatusOf<'order'> | undefined;
  readonly externalOrderId?: string | undefined;
  readonly packageId?: number | undefined;
  readonly failureClass?: FailureClass | undefined;
  readonly attentionReason?: AttentionReason | undefined;
  /** Exclusive. */
  readonly createdAfter?: Date | undefined;
  /** Exclusive. */
  readonly createdBefore?: Date | undefined;
}

/** Where a page ended: the next one starts after it. */
export interface OrderPosition {
  readonly createdAt: Date;
  readonly id: string;
}

export async function findOrderView(db: Executor, id: string): Promise<OrderView | undefined> {
  const [view]: OrderView[] = await viewsWhere(db, eq(orders.id, id), 1);
  return view;
}

/**
 * A page of orders, newest first.
 *
 * @param after the end of the page before.
 * @returns a query, which runs when it is awaited.
 */
export function listOrderViews(
  db: Executor,
  filter: OrderFilter,
  options: { limit: number; after?: OrderPosition | undefined },
) {
  const { after } = options;
  const where = and(
    filter.status === undefined ? undefined : eq(orders.status, filter.status),
    filter.externalOrderId === undefined ? undefined : eq(orders.externalOrderId, filter.externalOrderId),
    filter.packageId === undefined ? undefined : eq(orders.packageId, filter.packageId),
    filter.failureClass === undefined ? undefined : eq(orders.failureClass, filter.failureClass),
    filter.attentionReason === undefined ? undefined : eq(orders.attentionReason, filter.attentionReason),
    filter.createdAfter === undefined ? undefined : gt(orders.createdAt, filter.createdAfter),
    filter.createdBefore === undefined ? undefined : lt(orders.createdAt, filter.createdBefore),
    after === undefined ? undefined : sql`(${orders.createdAt}, ${orders.id}) < (${after.createdAt}, ${after.id})`,
  );
  return viewsWhere(db, where, options.limit);
}

export interface TimelineRow {
  readonly id: bigint;
  readonly at: Date;
  readonly event: string;
  readonly message: string;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
}

/** A page of an order's timeline, oldest first. @param after id of the last entry of the page before. */
export async function listOrderTimeline(
  db: Executor,
  orderId: string,
  options: { limit: number; after?: bigint | undefined },
): Promise<TimelineRow[]> {
  return db
    .select({ id: timeline.id, at: timeline.at, event: timeline.event, message: timeline.message, detail: timeline.detail })
    .from(timeline)
    .where(
      and(
        eq(timeline.subjectKind, 'order'),
        eq(timeline.subjectId, orderId),
        options.after === undefined ? undefined : gt(timeline.id, options.after),
      ),
    )
    .orderBy(asc(timeline.id))
    .limit(options.limit);
}

export async function orderExists(db: Executor, id: string): Promise<boolean> {
  const rows = await db.select({ id: orders.id }).from(orders).where(eq(orders.id, id));
  return rows.length > 0;
}

function viewsWhere(db: Executor, where: SQL | undefined, limit: number) {
  const facts = db
    .select({
      attempts: sql<number>`count(*)::int`.as('attempts'),
      serviceOrderId: sql<
        string | null
      >`(array_agg(${attempts.serviceId} order by ${attempts.number} desc) filter (where ${attempts.serviceId} is not null))[1]`.as(
        'latest_service_order_id',
      ),
    })
    .from(attempts)
    .where(and(eq(attempts.subjectKind, 'order'), eq(attempts.subjectId, orders.id)))
    .as('facts');
  return (
    db
      .select({ order: orders, attempts: facts.attempts, serviceOrderId: facts.serviceOrderId })
      .from(orders)
      .crossJoinLateral(facts)
      .where(where)
      // `nulls last` as in the index: without it PostgreSQL would sort all orders for each page.
      .orderBy(sql`${orders.createdAt} desc nulls last, ${orders.id} desc nulls last`)
      .limit(limit)
  );
}
