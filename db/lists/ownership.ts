/** Every query for a caller takes an owner and uses a condition of this file. */
import { and, eq, exists, or, type Placeholder, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { matches } from '#db/lists/pages.ts';
import { cancellations, cases, esims, orders, refunds } from '#db/schema.ts';
import { workTable } from '#db/work/rows.ts';
import { WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';

/** Lineage of API keys; undefined: all. Required, so that no caller can omit it. */
export type Owner = string | undefined;

/** @param owner or its place in a prepared statement. */
export function ownWork(kind: WorkKind, owner: Owner | Placeholder): SQL | undefined {
  return matches(workTable(kind).apiKeyId, owner);
}

export function ownEsims(db: Executor, owner: Owner): SQL | undefined {
  if (owner === undefined) return undefined;
  const bought = db.select({ one: sql`1` }).from(orders);
  return exists(bought.where(and(eq(orders.id, esims.orderId), ownWork('order', owner))));
}

export function ownRefunds(db: Executor, owner: Owner): SQL | undefined {
  if (owner === undefined) return undefined;
  const cancelled = db.select({ one: sql`1` }).from(cancellations);
  return exists(cancelled.where(and(eq(cancellations.id, refunds.cancellationId), ownWork('cancellation', owner))));
}

/** Cases about webhook deliveries have no owner. */
export function ownCases(db: Executor, owner: Owner): SQL | undefined {
  if (owner === undefined) return undefined;
  return or(
    ...WORK_KINDS.map((kind) => {
      const table = workTable(kind);
      const about = db.select({ one: sql`1` }).from(table);
      return and(
        eq(cases.subjectKind, kind),
        exists(about.where(and(eq(table.id, cases.subjectId), ownWork(kind, owner)))),
      );
    }),
  );
}
