import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { packages, vpnPlans } from '#db/schema.ts';
import { storedKind, workTable } from '#db/work/rows.ts';
import type { Money } from '#domain/money/money.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

/**
 * The price of what a piece of work orders, in the stored catalogue. It may have changed at the service since, and a
 * top-up may have a price of its own.
 * @returns undefined when the catalogue does not have it, or the work orders nothing.
 */
export async function cataloguePrice(db: Executor, { kind, id }: WorkRef): Promise<Money | undefined> {
  const { product } = storedKind(kind);
  if (product === undefined) return undefined;
  const items = product.field === 'package_id' ? packages : vpnPlans;
  const [price] = await db
    .select({ amount: items.priceAmount, currency: items.priceCurrency })
    .from(workTable(kind))
    .innerJoin(items, eq(items.id, product.column))
    .where(eq(workTable(kind).id, id));
  return price;
}
