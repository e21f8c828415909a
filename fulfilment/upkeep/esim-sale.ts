import { and, count, eq, max } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { orders, topups } from '#db/schema.ts';
import type { EsimRow } from '#db/work/rows.ts';

/** The order of an eSIM and its top-ups, as announcements name and count them. */
export interface EsimSale {
  readonly apiKeyId: string;
  readonly externalOrderId: string;
  readonly completedTopups: number;
  readonly lastTopupAt: Date | null;
}

/** Reads the sale of an eSIM. @returns undefined when its order is lost. */
export async function readEsimSale(
  tx: Executor,
  { id, orderId }: Pick<EsimRow, 'id' | 'orderId'>,
): Promise<EsimSale | undefined> {
  const [order] = await tx
    .select({ apiKeyId: orders.apiKeyId, externalOrderId: orders.externalOrderId })
    .from(orders)
    .where(eq(orders.id, orderId));
  if (order === undefined) return undefined;
  const [topped] = await tx
    .select({ completed: count(), last: max(topups.completedAt) })
    .from(topups)
    .where(and(eq(topups.esimId, id), eq(topups.status, 'completed')));
  return { ...order, completedTopups: topped?.completed ?? 0, lastTopupAt: topped?.last ?? null };
}
