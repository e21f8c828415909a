import { and, asc, count, eq, getTableColumns, inArray, lte, ne, or, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { type Owner, ownEsims } from '#db/lists/ownership.ts';
import {
  following,
  matches,
  newest,
  oneOf,
  type PageOptions,
  pageOfStatuses,
  type TimeFilter,
  withinTimes,
} from '#db/lists/pages.ts';
import { movementOfCause } from '#db/money/wallet-movements.ts';
import { attempts, esims, esimUsage, orders, topups } from '#db/schema.ts';
import { inList } from '#db/schema/columns.ts';
import type { EsimRow } from '#db/work/rows.ts';
import type { DataUsage, EsimState } from '#domain/esims/esim-state.ts';
import { FREES_REFERENCE } from '#domain/work/identifiers.ts';

export async function findEsim(db: Executor, id: string, owner: Owner): Promise<EsimRow | undefined> {
  const [row] = await db
    .select()
    .from(esims)
    .where(and(eq(esims.id, id), ownEsims(db, owner)));
  return row;
}

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

export type EsimWithOrder = EsimRow & { readonly externalOrderId: string };

function viewColumns(db: Executor) {
  // Not joined: with an unknown page size, PostgreSQL may plan to join and sort all rows.
  const reference = db
    .select({ externalOrderId: orders.externalOrderId })
    .from(orders)
    .where(eq(orders.id, esims.orderId));
  return { ...getTableColumns(esims), externalOrderId: sql<string>`(${reference})` };
}

export async function viewEsim(db: Executor, id: string, owner: Owner): Promise<EsimWithOrder | undefined> {
  const [row] = await db
    .select(viewColumns(db))
    .from(esims)
    .where(and(eq(esims.id, id), ownEsims(db, owner)));
  return row;
}

export async function viewEsims(db: Executor, ids: readonly string[], owner: Owner): Promise<EsimWithOrder[]> {
  if (ids.length === 0) return [];
  return db
    .select(viewColumns(db))
    .from(esims)
    .where(and(inArray(esims.id, ids), ownEsims(db, owner)));
}

interface EsimFilter extends TimeFilter {
  readonly statuses?: readonly string[] | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly orderId?: string | undefined;
  readonly externalOrderIds?: readonly string[] | undefined;
  readonly customerReferenceHash?: Buffer | undefined;
  readonly iccid?: string | undefined;
  readonly packageId?: number | undefined;
}

export function pageOfEsims(db: Executor, owner: Owner, filter: EsimFilter, { limit, after }: PageOptions) {
  const inPage = and(
    ownEsims(db, owner),
    matches(esims.orderId, filter.orderId),
    filter.ids && oneOf(esims.id, filter.ids),
    filter.externalOrderIds && ofOrdersCalled(db, filter.externalOrderIds),
    matches(esims.customerReferenceHash, filter.customerReferenceHash),
    matches(esims.iccid, filter.iccid),
    matches(esims.packageId, filter.packageId),
    ...withinTimes(esims, filter),
    following(esims.createdAt, esims.id, after),
  );
  return db
    .select(viewColumns(db))
    .from(esims)
    .where(pageOfStatuses(esims, filter.statuses, inPage, limit))
    .orderBy(newest(esims.createdAt, esims.id))
    .limit(limit);
}

/** An order that may have bought: at most one for each reference. */
function ofOrdersCalled(db: Executor, references: readonly string[]): SQL {
  const isOne = and(
    oneOf(orders.externalOrderId, references),
    // As constants, so that the partial index is used.
    sql`${orders.status} not in (${inList(FREES_REFERENCE)})`,
  );
  return sql`${esims.orderId} = any(array(${db.select({ id: orders.id }).from(orders).where(isOne)}))`;
}

export async function storeCustomer(
  tx: Executor,
  id: string,
  customer: Pick<EsimRow, 'encryptedCustomerReference' | 'customerReferenceHash'>,
): Promise<void> {
  await tx.update(esims).set(customer).where(eq(esims.id, id));
}

/** Other work of the eSIM neither begins nor ends meanwhile. @throws Error when there is none. */
export async function lockEsim(tx: Executor, id: string): Promise<EsimRow> {
  const [row] = await tx.select().from(esims).where(eq(esims.id, id)).for('update');
  if (row === undefined) throw new Error(`eSIM ${id} does not exist`);
  return row;
}

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
    isDebited:
      bought !== undefined && (await movementOfCause(db, { kind: 'attempt', id: bought.id }, 'debit')) !== undefined,
  };
}

export async function esimsToLookAt(db: Executor, now: Date, limit: number): Promise<EsimRow[]> {
  return db
    .select()
    .from(esims)
    .where(lte(esims.watchDueAt, now))
    .orderBy(asc(esims.watchDueAt), asc(esims.id))
    .limit(limit);
}

/** Set also after a failed read, so that the eSIM is not first in the queue again. */
export async function lookAgainAt(tx: Executor, id: string, at: Date | null): Promise<void> {
  await tx.update(esims).set({ watchDueAt: at }).where(eq(esims.id, id));
}

export interface EsimFacts extends EsimState {
  readonly iccid?: string | null;
}

/** A cancelled eSIM stays cancelled: an older answer may still arrive. */
export async function storeEsimState(tx: Executor, id: string, facts: EsimFacts, readAt: Date): Promise<void> {
  const { status, installedAt, activatedAt, expiresAt, iccid = null } = facts;
  // `updated_at` changes only with the state, not with every read.
  const isNews = sql`(${esims.status}, ${esims.installedAt}, ${esims.activatedAt}, ${esims.expiresAt})
    is distinct from (${status}::text, ${installedAt}::timestamptz, ${activatedAt}::timestamptz,
      ${expiresAt}::timestamptz)`;
  await tx
    .update(esims)
    .set({
      status,
      installedAt,
      activatedAt,
      expiresAt,
      readAt,
      iccid: sql`coalesce(${esims.iccid}, ${iccid})`,
      updatedAt: sql`case when ${isNews} then now() else ${esims.updatedAt} end`,
    })
    .where(and(eq(esims.id, id), sql`${esims.status} <> 'cancelled'`, lte(esims.readAt, readAt)));
}

export interface UsageReading extends DataUsage {
  readonly measuredAt: Date | null;
  readonly readAt: Date;
}

/** A newer stored reading stays. */
export async function storeUsage(
  tx: Executor,
  esimId: string,
  { usedMb, totalMb, measuredAt, readAt }: UsageReading,
): Promise<void> {
  const reading = {
    usedMb,
    totalMb: totalMb ?? null,
    unlimited: totalMb === undefined ? null : totalMb === null,
    measuredAt,
    readAt,
  };
  await tx
    .insert(esimUsage)
    .values({ esimId, ...reading })
    .onConflictDoUpdate({ target: esimUsage.esimId, set: reading, setWhere: lte(esimUsage.readAt, readAt) });
}

export async function storedUsage(db: Executor, esimId: string): Promise<typeof esimUsage.$inferSelect | undefined> {
  const [row] = await db.select().from(esimUsage).where(eq(esimUsage.esimId, esimId));
  return row;
}

export async function storedReading(db: Executor, esimId: string): Promise<UsageReading | undefined> {
  const row = await storedUsage(db, esimId);
  if (row === undefined) return undefined;
  const { usedMb, totalMb, unlimited, measuredAt, readAt } = row;
  return { usedMb, totalMb: totalMb ?? (unlimited === true ? null : undefined), measuredAt, readAt };
}
