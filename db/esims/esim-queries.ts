import { and, count, eq, getTableColumns, gt, inArray, lt, ne, or, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { oneOf } from '#db/lists/conditions.ts';
import type { Given, GivenFilter, GivenPage } from '#db/lists/given-values.ts';
import { ownEsims, type Owner } from '#db/lists/ownership.ts';
import { pagesOf } from '#db/lists/pagination.ts';
import { newest, pageOfStatuses } from '#db/lists/status-pages.ts';
import { attempts, esims, orders, topups } from '#db/schema.ts';
import { inList } from '#db/schema/columns.ts';
import type { EsimRow } from '#db/work/rows.ts';
import { FREES_REFERENCE } from '#domain/work/identifiers.ts';

/** Finds an eSIM that the owner may see. */
export async function findEsim(db: Executor, id: string, owner: Owner): Promise<EsimRow | undefined> {
  const [row] = await db
    .select()
    .from(esims)
    .where(and(eq(esims.id, id), ownEsims(db, owner)));
  return row;
}

/** True when another order has delivered an eSIM that the service names so, by its id, or by its ICCID. */
export async function isEsimOfAnotherOrder(
  db: Executor,
  orderId: string,
  { id, iccid }: { readonly id: string; readonly iccid?: string | null },
): Promise<boolean> {
  const names = [id, iccid ?? id];
  const isNamed = or(inArray(esims.serviceEsimId, names), inArray(esims.iccid, names));
  const [other] = await db
    .select({ id: esims.id })
    .from(esims)
    .where(and(ne(esims.orderId, orderId), isNamed))
    .limit(1);
  return other !== undefined;
}

/** An eSIM as our API shows it. */
export type EsimWithOrder = EsimRow & { readonly externalOrderId: string };

/** The columns of an eSIM in the API, with the caller's reference of its order. */
function viewColumns(db: Executor) {
  // Not joined: with an unknown page size, PostgreSQL may plan to join and sort all rows.
  const reference = db
    .select({ externalOrderId: orders.externalOrderId })
    .from(orders)
    .where(eq(orders.id, esims.orderId));
  return { ...getTableColumns(esims), externalOrderId: sql<string>`(${reference})` };
}

/** {@link findEsim} as our API shows it. */
export async function viewEsim(db: Executor, id: string, owner: Owner): Promise<EsimWithOrder | undefined> {
  const [row] = await db
    .select(viewColumns(db))
    .from(esims)
    .where(and(eq(esims.id, id), ownEsims(db, owner)));
  return row;
}

/** Those of several eSIMs that the owner may see, in one statement. */
export async function viewEsims(db: Executor, ids: readonly string[], owner: Owner): Promise<EsimWithOrder[]> {
  if (ids.length === 0) return [];
  return db
    .select(viewColumns(db))
    .from(esims)
    .where(and(inArray(esims.id, [...ids]), ownEsims(db, owner)));
}

/** Filters of a list of eSIMs. */
export interface EsimFilter {
  /** One of these. */
  readonly statuses?: readonly string[] | undefined;
  /** One of these. */
  readonly ids?: readonly string[] | undefined;
  readonly orderId?: string | undefined;
  /** The caller's reference of the order is one of these. */
  readonly externalOrderIds?: readonly string[] | undefined;
  readonly customerReferenceHash?: Buffer | undefined;
  readonly iccid?: string | undefined;
  readonly packageId?: number | undefined;
  /** All exclusive. */
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly updatedAfter?: Date | undefined;
}

/** A page of eSIMs, newest first. @returns a query that runs when awaited. */
export function listEsims(
  db: Executor,
  owner: Given<Owner>,
  filter: GivenFilter<EsimFilter>,
  { limit, after }: GivenPage,
) {
  const inPage = and(
    ownEsims(db, owner),
    filter.orderId === undefined ? undefined : eq(esims.orderId, filter.orderId),
    filter.ids === undefined ? undefined : oneOf(esims.id)(filter.ids),
    filter.externalOrderIds === undefined ? undefined : ofOrdersCalled(db, filter.externalOrderIds),
    filter.customerReferenceHash === undefined
      ? undefined
      : eq(esims.customerReferenceHash, filter.customerReferenceHash),
    filter.iccid === undefined ? undefined : eq(esims.iccid, filter.iccid),
    filter.packageId === undefined ? undefined : eq(esims.packageId, filter.packageId),
    filter.createdAfter === undefined ? undefined : gt(esims.createdAt, filter.createdAfter),
    filter.createdBefore === undefined ? undefined : lt(esims.createdAt, filter.createdBefore),
    filter.updatedAfter === undefined ? undefined : gt(esims.updatedAt, filter.updatedAfter),
    after === undefined ? undefined : sql`(${esims.createdAt}, ${esims.id}) < (${after.createdAt}, ${after.id})`,
  );
  return db
    .select(viewColumns(db))
    .from(esims)
    .where(pageOfStatuses(esims, filter.statuses, inPage, limit))
    .orderBy(newest(esims.createdAt, esims.id))
    .limit(limit);
}

export const pageOfEsims = pagesOf<EsimFilter, EsimWithOrder>('esim_page', listEsims);

/** Condition: the eSIM is of the order that may have bought with one of these references: there is at most one each. */
function ofOrdersCalled(db: Executor, references: unknown): SQL {
  const isOne = and(
    oneOf(orders.externalOrderId)(references),
    // As constants, so that the partial index is used.
    sql`${orders.status} not in (${inList(FREES_REFERENCE)})`,
  );
  return sql`${esims.orderId} = any(array(${db.select({ id: orders.id }).from(orders).where(isOne)}))`;
}

/** Stores the reference of the end customer; null: none. */
export async function storeCustomer(
  tx: Executor,
  id: string,
  customer: Pick<EsimRow, 'encryptedCustomerReference' | 'customerReferenceHash'>,
): Promise<void> {
  await tx.update(esims).set(customer).where(eq(esims.id, id));
}

/** Locks an eSIM, so that other work of it neither begins nor ends meanwhile. @throws Error when there is none. */
export async function lockEsim(tx: Executor, id: string): Promise<EsimRow> {
  const [row] = await tx.select().from(esims).where(eq(esims.id, id)).for('update');
  if (row === undefined) throw new Error(`eSIM ${id} does not exist`);
  return row;
}

/** Our rows for the conditions of a refund: the purchase of the eSIM and its top-ups. */
export async function readRefundContext(db: Executor, esim: EsimRow) {
  const [bought] = await db
    .select()
    .from(attempts)
    .where(
      and(
        eq(attempts.subjectKind, 'order'),
        eq(attempts.subjectId, esim.orderId),
        eq(attempts.serviceEsimId, esim.serviceEsimId),
      ),
    );
  const [recharged] = await db
    .select({ completed: count() })
    .from(topups)
    .where(and(eq(topups.esimId, esim.id), eq(topups.status, 'completed')));
  return {
    serviceEsimId: esim.serviceEsimId,
    serviceOrderId: bought?.serviceId ?? null,
    reference: bought?.reference ?? null,
    orderedAt: (bought?.firstSentAt ?? esim.createdAt).getTime(),
    completedTopups: recharged?.completed ?? 0,
  };
}
