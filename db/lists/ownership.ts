/**
 * Which work a caller may see. Each query that the API runs for a caller takes an owner and asks here for its condition.
 * For a key that is limited to its own work, everything else does not exist.
 */
import { and, eq, exists, or, sql, type SQL } from 'drizzle-orm';
import { builtOnce, type BuiltQuery } from '#db/connection/built-once.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Given } from '#db/lists/given-values.ts';
import { cancellations, cases, esims, orders, refunds } from '#db/schema.ts';
import { workTable } from '#db/work/kinds.ts';
import { WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';

/**
 * The lineage of API keys whose work alone is seen; undefined: everybody's. Never left out, so that nobody forgets it.
 */
export type Owner = string | undefined;

/** Of a query on the table of this kind of work. */
export function ownWork(kind: WorkKind, owner: Given<Owner>): SQL | undefined {
  return owner === undefined ? undefined : eq(workTable(kind).apiKeyId, owner);
}

/** The query of the views of a kind, as far as it is needed to have it built once. */
type ItemsWhere<Item> = (
  db: Executor,
  where: SQL,
  limit: Given<number>,
) => { prepare(name: string): BuiltQuery<Item[]> };

/** Makes what reads one piece of work by its id, if it is the owner's: one query for all of them, built once. */
export function findOneOfOwner<Item>(
  kind: WorkKind,
  itemsWhere: ItemsWhere<Item>,
): (db: Executor, id: string, owner: Owner) => Promise<Item | undefined> {
  const { id: ownId, apiKeyId } = workTable(kind);
  const owned = sql.placeholder('owner');
  const where = sql`${ownId} = ${sql.placeholder('id')} and (${owned}::text is null or ${apiKeyId} = ${owned})`;
  const find = builtOnce((db) => itemsWhere(db, where, 1).prepare(`${kind}_by_id`));
  return async (db, id, owner) => (await find(db, { id, owner: owner ?? null }))[0];
}

/** Of a query on `esims`: an eSIM belongs to whoever ordered it. */
export function ownEsims(db: Executor, owner: Given<Owner>): SQL | undefined {
  if (owner === undefined) return undefined;
  const bought = db.select({ one: sql`1` }).from(orders);
  return exists(bought.where(and(eq(orders.id, esims.orderId), ownWork('order', owner))));
}

/** Of a query on `refunds`: a refund belongs to whoever cancelled. */
export function ownRefunds(db: Executor, owner: Given<Owner>): SQL | undefined {
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
      return and(
        eq(cases.subjectKind, kind),
        exists(about.where(and(eq(table.id, cases.subjectId), ownWork(kind, owner)))),
      );
    }),
  );
}
