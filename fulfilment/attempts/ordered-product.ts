/** Whether the service sold what was ordered. */
import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { orders, topups, vpnSubscriptions } from '#db/schema.ts';
import { isAsOrdered } from '#domain/relay/observation.ts';
import type { WorkRef } from '#domain/work/work.ts';

/**
 * Holds what the service has sold against what was ordered.
 *
 * @param sold id of the package or of the VPN plan; undefined where the service does not say it.
 * @returns what was ordered instead; undefined when it may be the same.
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

/** What was ordered: the id of the package or of the VPN plan; undefined of a cancellation, which orders nothing. */
async function orderedProduct(db: Executor, { kind, id }: WorkRef): Promise<number | undefined> {
  switch (kind) {
    case 'order':
      return (await db.select({ is: orders.packageId }).from(orders).where(eq(orders.id, id)))[0]?.is;
    case 'topup':
      return (await db.select({ is: topups.packageId }).from(topups).where(eq(topups.id, id)))[0]?.is;
    case 'vpn_subscription':
      return (
        await db.select({ is: vpnSubscriptions.vpnPlanId }).from(vpnSubscriptions).where(eq(vpnSubscriptions.id, id))
      )[0]?.is;
    case 'cancellation':
      return undefined;
  }
}
