/**
 * Whose work a caller sees. Every query that the API runs for a caller takes an owner and asks here for its condition: a
 * key that is limited to its own work meets the same condition everywhere, and what is not its own is, for it, not there.
 */
import { and, eq, exists, or, sql, type SQL } from 'drizzle-orm';
import { WORK_KINDS, type WorkKind } from '#domain/work.ts';
import type { Executor } from '#db/database.ts';
import { cancellations, cases, esims, orders, refunds } from '#db/schema.ts';
import { workTable } from '#db/work-tables.ts';

/** The lineage of API keys whose work alone is seen; undefined: everybody's. Never left out, so that nobody forgets it. */
export type Owner = string | undefined;

/** Of a query on the table of this kind of work. */
export function ownWork(kind: WorkKind, owner: Owner): SQL | undefined {
  return owner === undefined ? undefined : eq(workTable(kind).apiKeyId, owner);
}

/** One piece of work by its id, if it is the owner's, in a query that is built once: for its `id`, and its `owner` or null for everybody's. */
export function oneOfOwner(kind: WorkKind): SQL {
  const { id, apiKeyId } = workTable(kind);
  const owner = sql.placeholder('owner');
  return sql`${id} = ${sql.placeholder('id')} and (${owner}::text is null or ${apiKeyId} = ${owner})`;
}

/** Of a query on `esims`: an eSIM belongs to whoever ordered it. */
export function ownEsims(db: Executor, owner: Owner): SQL | undefined {
  if (owner === undefined) return undefined;
  const bought = db.select({ one: sql`1` }).from(orders);
  return exists(bought.where(and(eq(orders.id, esims.orderId), ownWork('order', owner))));
}

/** Of a query on `refunds`: a refund belongs to whoever cancelled. */
export function ownRefunds(db: Executor, owner: Owner): SQL | undefined {
  if (owner === undefined) return undefined;
  const cancelled = db.select({ one: sql`1` }).from(cancellations);
  return exists(cancelled.where(and(eq(cancellations.id, refunds.cancellationId), ownWork('cancellation', owner))));
}

/** Of a query on `cases`: only those about work; a webhook delivery is nobody's. */
export function ownCases(db: Executor, owner: Owner): SQL | undefined {
  if (owner === undefined) return undefined;
  return or(
    ...WORK_KINDS.map((kind) => {
      const table = workTable(kind);
      const about = db.select({ one: sql`1` }).from(table);
      return and(eq(cases.subjectKind, kind), exists(about.where(and(eq(table.id, cases.subjectId), ownWork(kind, owner)))));
    }),
  );
}
