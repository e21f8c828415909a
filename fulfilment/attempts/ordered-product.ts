/** Whether the service sold what was ordered. */
import { eq, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { storedKind, workTable } from '#db/work/kinds.ts';
import { isAsOrdered } from '#domain/relay/observation.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

/**
 * Compares the sold product with the ordered one.
 * @param sold id of the package or VPN plan; undefined when the service does not report it.
 * @returns the ordered product when it differs; undefined when it may be the same.
 */
export async function orderedInstead(
  db: Executor,
  work: WorkRef,
  sold: number | undefined,
): Promise<number | undefined> {
  if (sold === undefined) return undefined;
  const ordered = await orderedProduct(db, work);
  return isAsOrdered(ordered, sold) ? undefined : ordered;
}

/** Id of the ordered package or VPN plan; undefined for a kind that orders nothing. */
export async function orderedProduct(db: Executor, { kind, id }: WorkRef): Promise<number | undefined> {
  const { product } = storedKind(kind);
  if (product === undefined) return undefined;
  const table = workTable(kind);
  const [row] = await db
    .select({ is: sql<number>`${product.column}` })
    .from(table)
    .where(eq(table.id, id));
  return row?.is;
}
