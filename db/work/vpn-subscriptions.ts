import { and, inArray, isNotNull, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { type Owner, ownWork } from '#db/lists/ownership.ts';
import { oneOf, type PageOptions } from '#db/lists/pages.ts';
import { attempts, timeline, vpnSubscriptions, walletMovements } from '#db/schema.ts';
import { inList } from '#db/schema/columns.ts';
import { readWork, type VpnSubscriptionRow, vpnSubscriptionRow } from '#db/work/rows.ts';
import {
  attemptSummary,
  findOwn,
  summaryColumns,
  type WorkFilter,
  workPage,
  type StoredWork,
} from '#db/work/work-reads.ts';

export interface StoredVpnSubscription extends StoredWork<VpnSubscriptionRow> {
  /** In RFC 3339. */
  readonly renewedAt: readonly string[];
  /** Null: it has not ended. */
  readonly endRecordedAt: Date | null;
  readonly debits: readonly { readonly at: string; readonly amount: string; readonly currency: string }[];
}

export const SUBSCRIPTION_ENTRIES = {
  renewed: 'vpn_subscription.renewed',
  ends: ['vpn_subscription.cancelled', 'vpn_subscription.expired'],
} as const;

interface VpnSubscriptionFilter extends WorkFilter {
  readonly externalSubscriptionIds?: readonly string[] | undefined;
  readonly vpnPlanId?: number | undefined;
  readonly customerReferenceHash?: Buffer | undefined;
}

const ofSubscription = sql`from ${timeline} where ${timeline.subjectKind} = 'vpn_subscription'
  and ${timeline.subjectId} = ${vpnSubscriptions.id} and ${timeline.event}`;

function select(db: Executor) {
  const facts = attemptSummary(db, 'vpn_subscription');
  return db
    .select({
      row: vpnSubscriptions,
      renewedAt: sql<string[]>`array(select ${timeline.detail} ->> 'previous_expires_at'
        ${ofSubscription} = ${SUBSCRIPTION_ENTRIES.renewed})`,
      endRecordedAt: sql<Date | null>`(select max(${timeline.at})
        ${ofSubscription} in (${inList(SUBSCRIPTION_ENTRIES.ends)}))`.mapWith(timeline.at),
      debits: sql<StoredVpnSubscription['debits']>`(select coalesce(jsonb_agg(jsonb_build_object('at',
          ${walletMovements.occurredAt}, 'amount', ${walletMovements.amount}::text,
          'currency', ${walletMovements.currency}) order by ${walletMovements.occurredAt}), '[]')
        from ${walletMovements} join ${attempts} on ${attempts.id} = ${walletMovements.attemptId}
        where ${attempts.subjectKind} = 'vpn_subscription' and ${attempts.subjectId} = ${vpnSubscriptions.id}
          and ${walletMovements.causeKind} = 'subscription_period' and ${walletMovements.direction} = 'debit')`,
      ...summaryColumns(facts),
    })
    .from(vpnSubscriptions)
    .crossJoinLateral(facts)
    .$dynamic();
}

export const vpnSubscriptionReads = {
  find: (db: Executor, id: string, owner: Owner): Promise<StoredVpnSubscription | undefined> =>
    findOwn(db, 'vpn_subscription', select, id, owner),
  page: (db: Executor, owner: Owner, filter: VpnSubscriptionFilter, page: PageOptions) => {
    const { externalSubscriptionIds: named } = filter;
    const own = [
      [vpnSubscriptions.vpnPlanId, filter.vpnPlanId],
      [vpnSubscriptions.customerReferenceHash, filter.customerReferenceHash],
    ] as const;
    const references = named && oneOf(vpnSubscriptions.externalSubscriptionId, named);
    return workPage(db, 'vpn_subscription', select, owner, filter, page, own, references);
  },
};

/** The owner's; those without access data are left out. */
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
    .where(and(inArray(id, ids), isNotNull(encryptedAccess), ownWork('vpn_subscription', owner)));
}

/** @throws WorkMissingError */
export async function readVpnSubscription(db: Executor, id: string): Promise<VpnSubscriptionRow> {
  return vpnSubscriptionRow(await readWork(db, { kind: 'vpn_subscription', id }));
}
