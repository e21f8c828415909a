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

/** Rows as the database stores them: the tables of `db/schema/`. */

export type AttemptRow = typeof attempts.$inferSelect;
export type CancellationRow = typeof cancellations.$inferSelect;
export type EsimRow = typeof esims.$inferSelect;
export type OrderBatchRow = typeof orderBatches.$inferSelect;
export type OrderRow = typeof orders.$inferSelect;
export type RefundRow = typeof refunds.$inferSelect;
export type TopupRow = typeof topups.$inferSelect;
export type VpnSubscriptionRow = typeof vpnSubscriptions.$inferSelect;

type MovementName = keyof MovementNames;

/** The values that a workflow starts with, as stored. */
export interface StoredStart {
  /** The caller's reference; undefined: none. */
  readonly externalReference?: string;
  readonly packageId?: number;
  readonly vpnPlanId?: number;
  /** Of the request that created the work; undefined: it was not traced. */
  readonly traceparent?: string;
}

interface StoredKind {
  /** Its table, made with `workColumns`. */
  readonly table: unknown;
  /** The caller's own reference, which is `callerReference` in the API; absent for a kind without one. */
  readonly reference?: AnyPgColumn;
  /** The ordered package or VPN plan with its name in the API; absent for a kind that orders nothing. */
  readonly product?: { readonly column: AnyPgColumn; readonly field: 'package_id' | 'vpn_plan_id' };
  /** Further data of its status events, under the names of the API. */
  readonly eventData?: Readonly<Record<string, AnyPgColumn>>;
  /** The fields by which a wallet movement names one of its attempts; empty for a kind that is never debited. */
  readonly movementNames: {
    readonly serviceId?: MovementName;
    readonly reference?: MovementName;
    readonly serviceEsimId?: MovementName;
  };
  /** The reference and the package that its workflow starts with, if these are not its own. */
  readonly startsWith?: {
    readonly reference: AnyPgColumn;
    readonly packageId: AnyPgColumn;
    /** The tables from its own to those. */
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

/** The entry of one kind. */
export function storedKind(kind: WorkKind): StoredKind {
  return STORED_KINDS[kind];
}

/** No table of the database: the shared columns of all work tables. */
const anyWork = pgTable('work', workColumns<WorkStatus>());

type WorkTable = typeof anyWork;

/** The shared columns of a work row. */
export type WorkRow = WorkTable['$inferSelect'];

/**
 * The table of a kind of work with the shared columns. A selection of the whole table reads its other columns, too,
 * which the type does not show.
 */
export function workTable(kind: WorkKind): WorkTable {
  // Every table of the record is made with `workColumns`; the types differ in name and further columns.
  return STORED_KINDS[kind].table as unknown as WorkTable;
}

/** The row of a kind with all of its columns. */
type WholeRow<Kind extends WorkKind> = (typeof STORED_KINDS)[Kind]['table']['$inferSelect'];

/** All columns of a row that was selected from the whole {@link workTable} of its kind. */
export function wholeRow<Kind extends WorkKind>(_kind: Kind, row: WorkRow): WholeRow<Kind> {
  return row as unknown as WholeRow<Kind>;
}

/** By name, the columns of the data of a status event that other kinds do not have. */
function ownEventColumns(kind: WorkKind): Readonly<Record<string, AnyPgColumn>> {
  const { reference, product, eventData } = storedKind(kind);
  const entry = KINDS[kind];
  return {
    ...(reference && 'callerReference' in entry && { [entry.callerReference]: reference }),
    ...(product && { [product.field]: product.column }),
    ...eventData,
  };
}

/** By kind, the names of {@link ownEventColumns} with the properties of the row that hold their values. */
const ownEventProperties = eachKind((kind) => {
  const properties = Object.entries(getTableColumns(workTable(kind)));
  return Object.entries(ownEventColumns(kind)).map(
    ([name, column]) => [name, properties.find(([, each]) => each === column)?.[0] ?? ''] as const,
  );
});

/**
 * The data of a status event that other kinds do not have: reference, product and `eventData` of the kind.
 * @param row with all columns of its kind.
 */
export function ownEventData(kind: WorkKind, row: WorkRow): EventData {
  const values = row as unknown as EventData;
  return Object.fromEntries(ownEventProperties[kind].map(([name, property]) => [name, values[property] ?? null]));
}

/**
 * What the workflow of a piece of work starts with, as an expression for another statement; null when its row is
 * missing.
 * @param id expression of the id of the work.
 */
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

/** The work has ended and must not change any more. */
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

/** A stored row is missing: this is another database, or PostgreSQL has lost commits. */
export class RowMissingError extends Error {}

/** The work is not in the database: it was never accepted, or its row is lost. */
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

/** True when work has ended. @throws WorkMissingError */
export async function hasEnded(db: Executor, work: WorkRef): Promise<boolean> {
  return isFinal((await readWork(db, work)).status);
}

/** Reads and locks work. Callers that change work and an attempt lock the work first. @throws WorkMissingError */
export async function lockWork(tx: Executor, work: WorkRef): Promise<WorkRow> {
  const table = workTable(work.kind);
  const [row] = await tx.select().from(table).where(eq(table.id, work.id)).for('update');
  if (row === undefined) throw new WorkMissingError(work);
  return row;
}

/**
 * Reads and locks work that has not ended, with the present epoch of the database.
 * @throws as of {@link lockUnfinishedWork}
 */
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

/** Reads and locks work that has not ended. @throws WorkMissingError, WorkFinishedError */
export async function lockUnfinishedWork(tx: Executor, work: WorkRef): Promise<WorkRow> {
  return unfinished(work, await lockWork(tx, work));
}

function unfinished(work: WorkRef, row: WorkRow): WorkRow {
  if (isFinal(row.status)) throw new WorkFinishedError(work, row.status);
  return row;
}

/** The values that the Temporal UI shows from the start of a workflow; no personal data. */
export interface StartedWork extends WorkRef {
  /** The caller's reference; our id when there is none. */
  readonly externalReference: string;
  /** Set for eSIM packages; VPN plans use the other field. */
  readonly packageId?: number;
  readonly vpnPlanId?: number;
  /** `traceparent` of the request that created it; absent: it was not traced. */
  readonly traceparent?: string;
}

/** @param stored what its row has, as `startOf` reads it. @throws WorkMissingError without a row. */
export function startedWork({ kind, id }: WorkRef, stored: StoredStart | null): StartedWork {
  const work = { kind, id };
  if (stored === null) throw new WorkMissingError(work);
  return { ...work, ...stored, externalReference: stored.externalReference ?? work.id };
}
