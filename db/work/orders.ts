import { eq, and, asc, gt, inArray, lt, sql, sum } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { following, matches, newest, oneOf, type PageOptions, type TimeFilter } from '#db/lists/pages.ts';
import { orders, esims, orderBatches } from '#db/schema.ts';
import type { OrderRow, OrderBatchRow } from '#db/work/rows.ts';
import {
  attemptSummary,
  findOwn,
  summaryColumns,
  type WorkFilter,
  workPage,
  type StoredWork,
} from '#db/work/work-reads.ts';
import { type Money, sumByCurrency } from '#domain/money/money.ts';
import type { StatusOf } from '#domain/work/lifecycle.ts';

export type StoredOrder = StoredWork<OrderRow>;

export interface OrderFilter extends WorkFilter {
  readonly externalOrderIds?: readonly string[] | undefined;
  readonly packageId?: number | undefined;
  readonly esimId?: string | undefined;
  readonly batchId?: string | undefined;
  readonly customerReferenceHash?: Buffer | undefined;
}

function select(db: Executor) {
  const facts = attemptSummary(db, 'order');
  return db
    .select({ row: orders, ...summaryColumns(facts) })
    .from(orders)
    .crossJoinLateral(facts)
    .$dynamic();
}

export const orderReads = {
  find: (db: Executor, id: string, owner: Owner): Promise<StoredOrder | undefined> =>
    findOwn(db, 'order', select, id, owner),
  page: (db: Executor, owner: Owner, filter: OrderFilter, page: PageOptions) => {
    const own = [
      [orders.packageId, filter.packageId],
      [orders.esimId, filter.esimId],
      [orders.batchId, filter.batchId],
      [orders.customerReferenceHash, filter.customerReferenceHash],
    ] as const;
    const references = filter.externalOrderIds && oneOf(orders.externalOrderId, filter.externalOrderIds);
    return workPage(db, 'order', select, owner, filter, page, own, references);
  },
};

export interface StoredBatch {
  readonly row: OrderBatchRow;
  readonly counts: ReadonlyMap<StatusOf<'order'>, number>;
  readonly charged: readonly Money[];
  readonly ofItems: readonly ItemTerms[];
}

type ItemTerms = Pick<OrderRow, 'id' | 'metadata' | 'encryptedCustomerReference'>;

interface BatchFilter extends Omit<TimeFilter, 'updatedAfter'> {
  readonly externalBatchId?: string | undefined;
  readonly isCompleted?: boolean | undefined;
  readonly createdBy?: string | undefined;
}

export async function findBatch(db: Executor, id: string, owner: Owner): Promise<StoredBatch | undefined> {
  const rows = await db
    .select()
    .from(orderBatches)
    .where(and(eq(orderBatches.id, id), matches(orderBatches.apiKeyId, owner)));
  return (await withOrders(db, rows))[0];
}

export async function listBatches(
  db: Executor,
  owner: Owner,
  { externalBatchId, isCompleted, createdBy, createdAfter, createdBefore }: BatchFilter,
  { limit, after }: PageOptions,
): Promise<StoredBatch[]> {
  const { id, createdAt, completedAt, apiKeyId } = orderBatches;
  const rows = await db
    .select()
    .from(orderBatches)
    .where(
      and(
        matches(apiKeyId, owner),
        matches(orderBatches.externalBatchId, externalBatchId),
        isCompleted === undefined ? undefined : sql`${completedAt} is ${sql.raw(isCompleted ? 'not null' : 'null')}`,
        matches(apiKeyId, createdBy),
        createdAfter && gt(createdAt, createdAfter),
        createdBefore && lt(createdAt, createdBefore),
        following(createdAt, id, after),
      ),
    )
    .orderBy(newest(createdAt, id))
    .limit(limit);
  return withOrders(db, rows);
}

async function withOrders(db: Executor, rows: readonly OrderBatchRow[]): Promise<StoredBatch[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const groups = await db
    .select({
      batchId: orders.batchId,
      status: orders.status,
      currency: orders.chargedCurrency,
      number: sql<number>`count(*)::int`,
      amount: sum(orders.chargedAmount),
    })
    .from(orders)
    .where(inArray(orders.batchId, ids))
    .groupBy(orders.batchId, orders.status, orders.chargedCurrency)
    .orderBy(asc(orders.chargedCurrency));
  const firsts = await firstOrders(db, ids);
  const byBatch = Map.groupBy(groups, ({ batchId }) => batchId);
  return rows.map((row) => {
    const own = byBatch.get(row.id) ?? [];
    const counts = new Map<StatusOf<'order'>, number>();
    for (const { status, number } of own) counts.set(status, (counts.get(status) ?? 0) + number);
    const charges = own.flatMap(({ currency, amount }) =>
      currency === null || amount === null ? [] : [{ currency, amount }],
    );
    return { row, counts, charged: sumByCurrency(charges), ofItems: firsts.get(row.id) ?? [] };
  });
}

async function firstOrders(db: Executor, batchIds: readonly string[]): Promise<Map<string | null, ItemTerms[]>> {
  const items = sql`lateral (
    select 1 + sum((item->>'quantity')::int) over (order by number) - (item->>'quantity')::int as position
    from jsonb_array_elements(${orderBatches.items}) with ordinality as each(item, number)) as first_of_item`;
  const found = await db
    .select({
      batchId: orders.batchId,
      id: orders.id,
      metadata: orders.metadata,
      encryptedCustomerReference: orders.encryptedCustomerReference,
    })
    .from(orderBatches)
    .innerJoin(items, sql`true`)
    .innerJoin(orders, and(eq(orders.batchId, orderBatches.id), sql`${orders.batchPosition} = first_of_item.position`))
    .where(inArray(orderBatches.id, batchIds))
    .orderBy(asc(orders.batchPosition));
  return Map.groupBy(found, ({ batchId }) => batchId);
}

export async function esimsOfBatch(db: Executor, batchId: string) {
  return db
    .select({
      id: esims.id,
      iccid: esims.iccid,
      externalOrderId: orders.externalOrderId,
      encryptedActivationCode: esims.encryptedActivationCode,
    })
    .from(orders)
    .innerJoin(esims, eq(esims.orderId, orders.id))
    .where(eq(orders.batchId, batchId))
    .orderBy(asc(orders.batchPosition));
}
