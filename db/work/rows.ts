import { sql, type SQL, eq } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import { DATABASE_EPOCH } from '#db/connection/database-epoch.ts';
import type { Executor } from '#db/connection/database.ts';
import { prepared } from '#db/connection/prepared-statements.ts';
import {
  type attempts,
  cancellations,
  esims,
  type orderBatches,
  orders,
  type refunds,
  topups,
  vpnSubscriptions,
} from '#db/schema.ts';
import type { MovementNames } from '#domain/money/books.ts';
import { KINDS, type WorkKind, type WorkRef, type WorkStart } from '#domain/work/kinds.ts';
import { type WorkStatus, isFinal } from '#domain/work/lifecycle.ts';

export type AttemptRow = typeof attempts.$inferSelect;
export type CancellationRow = typeof cancellations.$inferSelect;
export type EsimRow = typeof esims.$inferSelect;
export type OrderBatchRow = typeof orderBatches.$inferSelect;
export type OrderRow = typeof orders.$inferSelect;
export type RefundRow = typeof refunds.$inferSelect;
export type TopupRow = typeof topups.$inferSelect;
export type VpnSubscriptionRow = typeof vpnSubscriptions.$inferSelect;

export type WorkRow = OrderRow | TopupRow | VpnSubscriptionRow | CancellationRow;
/** Work of every kind has these columns: `workColumns`. */
export type SharedColumns = Pick<WorkRow, keyof WorkRow>;

const WORK_TABLES = {
  order: orders,
  topup: topups,
  vpn_subscription: vpnSubscriptions,
  cancellation: cancellations,
} as const satisfies Record<WorkKind, unknown>;

export function workTable<Kind extends WorkKind>(kind: Kind): (typeof WORK_TABLES)[Kind] {
  return WORK_TABLES[kind];
}

/** @throws TypeError for a row of another kind. */
export function orderRow(row: WorkRow): OrderRow {
  if ('externalOrderId' in row) return row;
  throw new TypeError(`${row.id} is not an order`);
}

/** @throws TypeError for a row of another kind. */
export function vpnSubscriptionRow(row: WorkRow): VpnSubscriptionRow {
  if ('externalSubscriptionId' in row) return row;
  throw new TypeError(`${row.id} is not a VPN subscription`);
}

export const PRODUCT_COLUMNS = {
  order: orders.packageId,
  topup: topups.packageId,
  vpn_subscription: vpnSubscriptions.vpnPlanId,
  cancellation: undefined,
} as const satisfies Record<WorkKind, unknown>;

export const REFERENCE_COLUMNS = {
  order: orders.externalOrderId,
  topup: topups.externalTopupId,
  vpn_subscription: vpnSubscriptions.externalSubscriptionId,
  cancellation: undefined,
} as const satisfies Record<WorkKind, unknown>;

/** What a movement of the wallet names of an attempt. The credit of a refund names the order. */
export const MOVEMENT_NAMES: Readonly<
  Record<WorkKind, Readonly<Partial<Record<'serviceId' | 'reference' | 'serviceEsimId', keyof MovementNames>>>>
> = {
  order: { serviceId: 'orderId', reference: 'orderReference', serviceEsimId: 'esimId' },
  topup: { serviceId: 'topupId' },
  vpn_subscription: { serviceId: 'subscriptionId', reference: 'subscriptionReference' },
  cancellation: {},
};

export type StoredStart = Partial<Omit<WorkStart, keyof WorkRef>>;

/** A cancellation starts with the reference and the package of its order. Null when the row of the work is missing. */
export function startOf(kind: WorkKind, id: SQL | AnyPgColumn): SQL<StoredStart | null> {
  const table = workTable(kind);
  const reference = REFERENCE_COLUMNS[kind] ?? orders.externalOrderId;
  const product = PRODUCT_COLUMNS[kind] ?? orders.packageId;
  const field = kind === 'vpn_subscription' ? sql`'vpnPlanId'` : sql`'packageId'`;
  const ofOrder = sql`join ${esims} on ${esims.id} = ${table.esimId} join ${orders} on ${orders.id} = ${esims.orderId}`;
  const unreadIn = KINDS[kind].isPurchase
    ? sql`case when ${table.comparedEpoch} is null then ${DATABASE_EPOCH} end`
    : sql`null`;
  const query = sql`select jsonb_strip_nulls(jsonb_build_object('externalReference', ${reference},
    ${field}, ${product}, 'traceparent', ${table.traceparent}, 'unreadIn', ${unreadIn}))
    from ${table} ${kind === 'cancellation' ? ofOrder : undefined} where ${table.id} = ${id}`;
  // Nested, or a selection from a single table would leave out the names of the tables.
  return sql`(${query})`;
}

/** It must not change any more. */
export class WorkFinishedError extends Error {
  readonly work: WorkRef;
  readonly status: WorkStatus;

  constructor(work: WorkRef, status: WorkStatus) {
    super(`${KINDS[work.kind].noun} ${work.id} has ended as ${status}`);
    this.name = 'WorkFinishedError';
    this.work = work;
    this.status = status;
  }
}

/** This is another database, or PostgreSQL has lost commits. */
export class RowMissingError extends Error {}

/** It was never accepted, or its row is lost. */
export class WorkMissingError extends RowMissingError {
  constructor({ kind, id }: WorkRef) {
    super(`${KINDS[kind].noun} ${id} does not exist in this database`);
    this.name = 'WorkMissingError';
  }
}

/** @throws WorkMissingError */
export async function readWork(db: Executor, work: WorkRef): Promise<WorkRow> {
  const table = workTable(work.kind);
  const statement = prepared(db, `read ${work.kind}`, (on, name) =>
    on
      .select()
      .from(table)
      .where(eq(table.id, sql.placeholder('id')))
      .prepare(name),
  );
  const [row] = await statement.execute({ id: work.id });
  if (row === undefined) throw new WorkMissingError(work);
  return row;
}

/** @throws WorkMissingError */
export async function hasEnded(db: Executor, work: WorkRef): Promise<boolean> {
  return isFinal((await readWork(db, work)).status);
}

/** Callers that change work and an attempt lock the work first. @throws WorkMissingError */
export async function lockWork(tx: Executor, work: WorkRef): Promise<WorkRow> {
  const table = workTable(work.kind);
  const statement = prepared(tx, `lock ${work.kind}`, (on, name) =>
    on
      .select()
      .from(table)
      .where(eq(table.id, sql.placeholder('id')))
      .for('update')
      .prepare(name),
  );
  const [row] = await statement.execute({ id: work.id });
  if (row === undefined) throw new WorkMissingError(work);
  return row;
}

/** Reads also the present epoch of the database. @throws as in {@link lockUnfinishedWork} */
export async function lockUnfinishedWithEpoch(
  tx: Executor,
  work: WorkRef,
): Promise<{ readonly row: WorkRow; readonly epoch: string }> {
  const table = workTable(work.kind);
  const statement = prepared(tx, `lock ${work.kind} with epoch`, (on, name) =>
    on
      .select({ row: table, epoch: DATABASE_EPOCH })
      .from(table)
      .where(eq(table.id, sql.placeholder('id')))
      .for('update')
      .prepare(name),
  );
  const [locked] = await statement.execute({ id: work.id });
  if (locked === undefined) throw new WorkMissingError(work);
  return { ...locked, row: unfinished(work, locked.row) };
}

/** @throws WorkMissingError, WorkFinishedError */
export async function lockUnfinishedWork(tx: Executor, work: WorkRef): Promise<WorkRow> {
  return unfinished(work, await lockWork(tx, work));
}

function unfinished(work: WorkRef, row: WorkRow): WorkRow {
  if (isFinal(row.status)) throw new WorkFinishedError(work, row.status);
  return row;
}

/** @param stored as `startOf` reads it. @throws WorkMissingError without a row. */
export function startedWork({ kind, id }: WorkRef, stored: StoredStart | null): WorkStart {
  const work = { kind, id };
  if (stored === null) throw new WorkMissingError(work);
  return { ...work, ...stored, externalReference: stored.externalReference ?? work.id };
}
