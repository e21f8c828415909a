/** VPN subscriptions as the API shows them. */
import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { oneOf } from '#db/lists/conditions.ts';
import { ownWork, type Owner } from '#db/lists/ownership.ts';
import { vpnSubscriptions } from '#db/schema.ts';
import type { VpnSubscriptionRow } from '#db/work/rows.ts';
import type { WorkFilter } from '#db/work/work-queries.ts';
import { workReads, type StoredWork } from '#db/work/work-reads.ts';
import { WorkMissingError } from '#db/work/work-rows.ts';

/** A VPN subscription with what its attempts add. */
export type StoredVpnSubscription = StoredWork<VpnSubscriptionRow>;

export interface VpnSubscriptionFilter extends WorkFilter {
  /** One of these. */
  readonly externalSubscriptionIds?: readonly string[] | undefined;
  readonly vpnPlanId?: number | undefined;
  readonly customerReferenceHash?: Buffer | undefined;
}

export const vpnSubscriptionReads = workReads<StoredVpnSubscription, VpnSubscriptionFilter>('vpn_subscription', {
  externalSubscriptionIds: oneOf(vpnSubscriptions.externalSubscriptionId),
  vpnPlanId: vpnSubscriptions.vpnPlanId,
  customerReferenceHash: vpnSubscriptions.customerReferenceHash,
});

/** The encrypted access data of those of several subscriptions that have some and are the owner's. */
export async function accessOfSubscriptions(
  db: Executor,
  ids: readonly string[],
  owner: Owner,
): Promise<{ id: string; access: Buffer }[]> {
  if (ids.length === 0) return [];
  const { id, encryptedAccess } = vpnSubscriptions;
  return db
    .select({ id, access: sql<Buffer>`${encryptedAccess}` })
    .from(vpnSubscriptions)
    .where(and(inArray(id, [...ids]), isNotNull(encryptedAccess), ownWork('vpn_subscription', owner)));
}

/** @throws WorkMissingError */
export async function readVpnSubscription(db: Executor, id: string): Promise<VpnSubscriptionRow> {
  const [row] = await db.select().from(vpnSubscriptions).where(eq(vpnSubscriptions.id, id));
  if (row === undefined) throw new WorkMissingError({ kind: 'vpn_subscription', id });
  return row;
}
