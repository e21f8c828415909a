/** Storage of each kind of work: one entry for each kind. */
import { eq, sql, type SQL } from 'drizzle-orm';
import { pgTable, type AnyPgColumn } from 'drizzle-orm/pg-core';
import type { Executor } from '#db/connection/database.ts';
import { cancellations, esims, orders, topups, vpnSubscriptions, workColumns } from '#db/schema.ts';
import type { EventData } from '#db/schema/events.ts';
import type { MovementNames } from '#domain/money/movements.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

type MovementName = keyof MovementNames;

/** The values that a workflow starts with, as stored. */
interface StoredStart {
  /** The caller's reference; null: none. */
  readonly externalReference: string | null;
  readonly packageId?: number;
  readonly vpnPlanId?: number;
}

interface StoredKind {
  /** Its table, made with `workColumns`. */
  readonly table: unknown;
  /** The ordered package or VPN plan; absent for a kind that orders nothing. */
  readonly product?: AnyPgColumn;
  /** The data of its status events that other kinds do not have, under the names of the API. */
  readonly eventData: SQL<EventData>;
  /** The fields by which a wallet movement names one of its attempts; empty for a kind that is never debited. */
  readonly movementNames: {
    readonly serviceId?: MovementName;
    readonly reference?: MovementName;
    readonly serviceEsimId?: MovementName;
  };
  /** Reads what its workflow starts with. */
  readonly start: (db: Executor, id: string) => PromiseLike<readonly StoredStart[]>;
}

const STORED_KINDS = {
  order: {
    table: orders,
    product: orders.packageId,
    eventData: sql`jsonb_build_object('external_order_id', ${orders.externalOrderId}, 'package_id',
      ${orders.packageId})`,
    movementNames: { serviceId: 'orderId', reference: 'orderReference', serviceEsimId: 'esimId' },
    start: (db, id) =>
      db
        .select({ externalReference: orders.externalOrderId, packageId: orders.packageId })
        .from(orders)
        .where(eq(orders.id, id)),
  },
  topup: {
    table: topups,
    product: topups.packageId,
    eventData: sql`jsonb_build_object('external_topup_id', ${topups.externalTopupId}, 'package_id',
      ${topups.packageId})`,
    movementNames: { serviceId: 'topupId' },
    start: (db, id) =>
      db
        .select({ externalReference: topups.externalTopupId, packageId: topups.packageId })
        .from(topups)
        .where(eq(topups.id, id)),
  },
  vpn_subscription: {
    table: vpnSubscriptions,
    product: vpnSubscriptions.vpnPlanId,
    eventData: sql`jsonb_build_object('external_subscription_id', ${vpnSubscriptions.externalSubscriptionId},
      'vpn_plan_id', ${vpnSubscriptions.vpnPlanId})`,
    movementNames: { serviceId: 'subscriptionId', reference: 'subscriptionReference' },
    start: (db, id) =>
      db
        .select({
          externalReference: vpnSubscriptions.externalSubscriptionId,
          vpnPlanId: vpnSubscriptions.vpnPlanId,
        })
        .from(vpnSubscriptions)
        .where(eq(vpnSubscriptions.id, id)),
  },
  cancellation: {
    table: cancellations,
    eventData: sql`jsonb_build_object('accept_without_refund', ${cancellations.acceptWithoutRefund})`,
    // The credit of its refund names the order.
    movementNames: {},
    start: (db, id) =>
      db
        .select({ externalReference: orders.externalOrderId, packageId: orders.packageId })
        .from(cancellations)
        .innerJoin(esims, eq(esims.id, cancellations.esimId))
        .innerJoin(orders, eq(orders.id, esims.orderId))
        .where(eq(cancellations.id, id)),
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
