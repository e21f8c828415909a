/** Storage of each kind of work: one entry for each kind. */
import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import { pgTable, type AnyPgColumn } from 'drizzle-orm/pg-core';
import { cancellations, esims, orders, topups, vpnSubscriptions } from '#db/schema.ts';
import { workColumns } from '#db/schema/columns.ts';
import type { EventData } from '#db/schema/events.ts';
import type { MovementNames } from '#domain/money/books.ts';
import { eachKind, KINDS, type WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

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
export type WholeRow<Kind extends WorkKind> = (typeof STORED_KINDS)[Kind]['table']['$inferSelect'];

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
