/** VPN subscriptions as the API shows them. */
import { and, eq, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { Given, GivenFilter, GivenPage } from '#db/lists/given-values.ts';
import { findOneOfOwner, type Owner } from '#db/lists/ownership.ts';
import { pagesOf } from '#db/lists/pagination.ts';
import { vpnSubscriptions } from '#db/schema.ts';
import type { VpnSubscriptionRow } from '#db/work/rows.ts';
import {
  attemptFacts,
  factsOf,
  newestFirst,
  workPage,
  type AttemptFacts,
  type WorkFilter,
} from '#db/work/work-queries.ts';
import { WorkMissingError } from '#db/work/work-rows.ts';

/** A VPN subscription with what its attempts add. */
export interface VpnSubscriptionView extends AttemptFacts {
  readonly subscription: typeof vpnSubscriptions.$inferSelect;
}

export interface VpnSubscriptionFilter extends WorkFilter {
  readonly externalSubscriptionId?: string | undefined;
  readonly vpnPlanId?: number | undefined;
  readonly customerReferenceHash?: Buffer | undefined;
}

export const findVpnSubscriptionView = findOneOfOwner<VpnSubscriptionView>('vpn_subscription', viewsWhere);

/** A page of VPN subscriptions, newest first. @returns a query, which runs when it is awaited. */
export function listVpnSubscriptionViews(
  db: Executor,
  owner: Given<Owner>,
  filter: GivenFilter<VpnSubscriptionFilter>,
  page: GivenPage,
) {
  const own = and(
    filter.externalSubscriptionId === undefined
      ? undefined
      : eq(vpnSubscriptions.externalSubscriptionId, filter.externalSubscriptionId),
    filter.vpnPlanId === undefined ? undefined : eq(vpnSubscriptions.vpnPlanId, filter.vpnPlanId),
    filter.customerReferenceHash === undefined
      ? undefined
      : eq(vpnSubscriptions.customerReferenceHash, filter.customerReferenceHash),
  );
  return viewsWhere(db, workPage('vpn_subscription', owner, filter, page, own), page.limit);
}

export const pageOfVpnSubscriptions = pagesOf<VpnSubscriptionFilter, VpnSubscriptionView>(
  'vpn_subscription_page',
  listVpnSubscriptionViews,
);

function viewsWhere(db: Executor, where: SQL | undefined, limit: Given<number>) {
  const facts = attemptFacts(db, 'vpn_subscription');
  return db
    .select({ subscription: vpnSubscriptions, ...factsOf(facts) })
    .from(vpnSubscriptions)
    .crossJoinLateral(facts)
    .where(where)
    .orderBy(newestFirst('vpn_subscription'))
    .limit(limit);
}

/** @throws WorkMissingError */
export async function readVpnSubscription(db: Executor, id: string): Promise<VpnSubscriptionRow> {
  const [row] = await db.select().from(vpnSubscriptions).where(eq(vpnSubscriptions.id, id));
  if (row === undefined) throw new WorkMissingError({ kind: 'vpn_subscription', id });
  return row;
}
