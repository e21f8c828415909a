import { pgTable } from 'drizzle-orm/pg-core';
import { cancellations, orders, topups, vpnSubscriptions, workColumns } from '#db/schema.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import type { WorkKind } from '#domain/work/work.ts';

/** No table of the database: the columns that the tables of all kinds share. */
const anyWork = pgTable('work', workColumns<WorkStatus>());

type WorkTable = typeof anyWork;

/** What the row of every kind of work has. */
export type WorkRow = WorkTable['$inferSelect'];

const TABLES = {
  order: orders,
  topup: topups,
  vpn_subscription: vpnSubscriptions,
  cancellation: cancellations,
} as const satisfies Record<WorkKind, unknown>;

/**
 * The table of a kind of work, with the columns that all kinds share. A query selects those that it names; `select()`
 * without columns reads the others too, which nobody who knows only the kind can see.
 */
export function workTable(kind: WorkKind): WorkTable {
  // Every table of the record is made with `workColumns`; the types differ in name and in what they have beyond those.
  return TABLES[kind] as unknown as WorkTable;
}
