import { getTableColumns, sql, type SQL, eq } from 'drizzle-orm';
import { pgTable, type AnyPgColumn } from 'drizzle-orm/pg-core';
import { DATABASE_EPOCH } from '#db/connection/database-epoch.ts';
import type { Executor } from '#db/connection/database.ts';
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
import { workColumns } from '#db/schema/columns.ts';
import type { EventData } from '#db/schema/events.ts';
import type { MovementNames } from '#domain/money/books.ts';
import { eachKind, KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';
import { type WorkStatus, isFinal } from '#domain/work/lifecycle.ts';

export type AttemptRow = typeof attempts.$inferSelect;
export type CancellationRow = typeof cancellations.$inferSelect;
export type EsimRow = typeof esims.$inferSelect;
export type OrderBatchRow = typeof orderBatches.$inferSelect;
export type OrderRow = typeof orders.$inferSelect;
export type RefundRow = typeof refunds.$inferSelect;
export type TopupRow = typeof topups.$inferSelect;
export type VpnSubscriptionRow = typeof vpnSubscriptions.$inferSelect;

type MovementName = keyof MovementNames;

export interface StoredStart {
  readonly externalReference?: string;
  readonly packageId?: number;
  readonly vpnPlanId?: number;
  /** Undefined: not traced. */
  readonly traceparent?: string;
}

interface StoredKind {
  readonly table: unknown;
  /** `callerReference` in the API; absent for a kind without one. */
  readonly reference?: AnyPgColumn;
  readonly product?: { readonly column: AnyPgColumn; readonly field: 'package_id' | 'vpn_plan_id' };
  readonly eventData?: Readonly<Record<string, AnyPgColumn>>;
  /** Empty for a kind that is never debited. */
  readonly movementNames: {
    readonly serviceId?: MovementName;
    readonly reference?: MovementName;
    readonly serviceEsimId?: MovementName;
  };
  readonly startsWith?: {
    readonly reference: AnyPgColumn;
    readonly packageId: AnyPgColumn;
    readonly joins: SQL;
  };
}

const STORED_KINDS = {
  order: {
    table: orders,
    reference: orders.externalOrderId,
    product: { column: orders.packageId, field: 'package_id' },
    eventData: { batch_id: orders.batchId },
    movementNames: { serviceId: 'orderId', reference: 'orderReference', serviceEsimId: 'esimId' },
  },
  topup: {
    table: topups,
    reference: topups.externalTopupId,
    product: { column: topups.packageId, field: 'package_id' },
    movementNames: { serviceId: 'topupId' },
  },
  vpn_subscription: {
    table: vpnSubscriptions,
    reference: vpnSubscriptions.externalSubscriptionId,
    product: { column: vpnSubscriptions.vpnPlanId, field: 'vpn_plan_id' },
    movementNames: { serviceId: 'subscriptionId', reference: 'subscriptionReference' },
  },
  cancellation: {
    table: cancellations,
    eventData: { on_unmet_conditions: cancellations.onUnmetConditions },
    // The credit of its refund names the order.
    movementNames: {},
    startsWith: {
      reference: orders.externalOrderId,
      packageId: orders.packageId,
      joins: sql`join ${esims} on ${esims.id} = ${cancellations.esimId}
        join ${orders} on ${orders.id} = ${esims.orderId}`,
    },
  },
} as const satisfies Record<WorkKind, StoredKind>;

export function storedKind(kind: WorkKind): StoredKind {
  return STORED_KINDS[kind];
}

const anyWork = pgTable('work', workColumns<WorkStatus>());

type WorkTable = typeof anyWork;

export type WorkRow = WorkTable['$inferSelect'];

/** A selection of the whole table reads its other columns, too, which the type does not show. */
export function workTable(kind: WorkKind): WorkTable {
  // Every table of the record is made with `workColumns`.
  return STORED_KINDS[kind].table as unknown as WorkTable;
}

type WholeRow<Kind extends WorkKind> = (typeof STORED_KINDS)[Kind]['table']['$inferSelect'];

/** The row must be selected from the whole {@link workTable} of its kind. */
export function wholeRow<Kind extends WorkKind>(_kind: Kind, row: WorkRow): WholeRow<Kind> {
  return row as unknown as WholeRow<Kind>;
}

function ownEventColumns(kind: WorkKind): Readonly<Record<string, AnyPgColumn>> {
  const { reference, product, eventData } = storedKind(kind);
  const entry = KINDS[kind];
  return {
    ...(reference && 'callerReference' in entry && { [entry.callerReference]: reference }),
    ...(product && { [product.field]: product.column }),
    ...eventData,
  };
}

const ownEventProperties = eachKind((kind) => {
  const properties = Object.entries(getTableColumns(workTable(kind)));
  return Object.entries(ownEventColumns(kind)).map(
    ([name, column]) => [name, properties.find(([, each]) => each === column)?.[0] ?? ''] as const,
  );
});

/** Reference, product and `eventData` of the kind. @param row with all columns of its kind. */
export function ownEventData(kind: WorkKind, row: WorkRow): EventData {
  const values = row as unknown as EventData;
  return Object.fromEntries(ownEventProperties[kind].map(([name, property]) => [name, values[property] ?? null]));
}

/** Null when the row of the work is missing. */
export function startOf(kind: WorkKind, id: SQL | AnyPgColumn): SQL<StoredStart | null> {
  const { startsWith, reference, product } = storedKind(kind);
  const table = workTable(kind);
  const names = startsWith?.reference ?? reference;
  const ordered = startsWith?.packageId ?? product?.column;
  const field = product?.field === 'vpn_plan_id' ? sql`'vpnPlanId'` : sql`'packageId'`;
  const query = sql`select jsonb_strip_nulls(jsonb_build_object('externalReference', ${names ?? sql`null`},
    ${field}, ${ordered ?? sql`null`}, 'traceparent', ${table.traceparent}))
    from ${table} ${startsWith?.joins} where ${table.id} = ${id}`;
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
  const [row] = await db.select().from(table).where(eq(table.id, work.id));
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
  const [row] = await tx.select().from(table).where(eq(table.id, work.id)).for('update');
  if (row === undefined) throw new WorkMissingError(work);
  return row;
}

/** Reads also the present epoch of the database. @throws as of {@link lockUnfinishedWork} */
export async function lockWorkInEpoch(
  tx: Executor,
  work: WorkRef,
): Promise<{ readonly row: WorkRow; readonly epoch: string }> {
  const table = workTable(work.kind);
  const [locked] = await tx
    .select({ row: table, epoch: DATABASE_EPOCH })
    .from(table)
    .where(eq(table.id, work.id))
    .for('update');
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

/** Shown in the Temporal UI; no personal data. */
export interface StartedWork extends WorkRef {
  readonly externalReference: string;
  readonly packageId?: number;
  readonly vpnPlanId?: number;
  /** Absent: not traced. */
  readonly traceparent?: string;
}

/** @param stored as `startOf` reads it. @throws WorkMissingError without a row. */
export function startedWork({ kind, id }: WorkRef, stored: StoredStart | null): StartedWork {
  const work = { kind, id };
  if (stored === null) throw new WorkMissingError(work);
  return { ...work, ...stored, externalReference: stored.externalReference ?? work.id };
}
