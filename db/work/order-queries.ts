/** Orders as the API shows them. */
import { and, eq, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { Given, GivenFilter, GivenPage } from '#db/lists/given-values.ts';
import { findOneOfOwner, type Owner } from '#db/lists/ownership.ts';
import { pagesOf } from '#db/lists/pagination.ts';
import { orders } from '#db/schema.ts';
import type { OrderRow } from '#db/work/rows.ts';
import {
  attemptFacts,
  factsOf,
  newestFirst,
  workPage,
  type AttemptFacts,
  type WorkFilter,
} from '#db/work/work-queries.ts';
import { WorkMissingError } from '#db/work/work-rows.ts';

/** An order with what its attempts add. */
export interface OrderView extends AttemptFacts {
  readonly order: typeof orders.$inferSelect;
}

export interface OrderFilter extends WorkFilter {
  readonly externalOrderId?: string | undefined;
  readonly packageId?: number | undefined;
  readonly esimId?: string | undefined;
}

export const findOrderView = findOneOfOwner<OrderView>('order', viewsWhere);

/** A page of orders, newest first. @returns a query, which runs when it is awaited. */
export function listOrderViews(db: Executor, owner: Given<Owner>, filter: GivenFilter<OrderFilter>, page: GivenPage) {
  const own = and(
    filter.externalOrderId === undefined ? undefined : eq(orders.externalOrderId, filter.externalOrderId),
    filter.packageId === undefined ? undefined : eq(orders.packageId, filter.packageId),
    filter.esimId === undefined ? undefined : eq(orders.esimId, filter.esimId),
  );
  return viewsWhere(db, workPage('order', owner, filter, page, own), page.limit);
}

export const pageOfOrders = pagesOf<OrderFilter, OrderView>('order_page', listOrderViews);

function viewsWhere(db: Executor, where: SQL | undefined, limit: Given<number>) {
  const facts = attemptFacts(db, 'order');
  return db
    .select({ order: orders, ...factsOf(facts) })
    .from(orders)
    .crossJoinLateral(facts)
    .where(where)
    .orderBy(newestFirst('order'))
    .limit(limit);
}

/** @throws WorkMissingError */
export async function readOrder(db: Executor, orderId: string): Promise<OrderRow> {
  const [order] = await db.select().from(orders).where(eq(orders.id, orderId));
  if (order === undefined) throw new WorkMissingError({ kind: 'order', id: orderId });
  return order;
}
