/** Top-ups as the API shows them. */
import { and, eq, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { topups } from '#db/schema.ts';
import { findOneOfOwner, type Owner } from '#db/work/ownership.ts';
import { pagesOf, type Given, type GivenFilter, type GivenPage } from '#db/work/pagination.ts';
import {
  attemptFacts,
  factsOf,
  newestFirst,
  workPage,
  type AttemptFacts,
  type WorkFilter,
} from '#db/work/work-queries.ts';

/** A top-up with what its attempts add. */
export interface TopupView extends AttemptFacts {
  readonly topup: typeof topups.$inferSelect;
}

export interface TopupFilter extends WorkFilter {
  readonly esimId?: string | undefined;
  readonly externalTopupId?: string | undefined;
  readonly packageId?: number | undefined;
}

export const findTopupView = findOneOfOwner<TopupView>('topup', viewsWhere);

/** A page of top-ups, newest first. @returns a query, which runs when it is awaited. */
export function listTopupViews(db: Executor, owner: Given<Owner>, filter: GivenFilter<TopupFilter>, page: GivenPage) {
  const own = and(
    filter.esimId === undefined ? undefined : eq(topups.esimId, filter.esimId),
    filter.externalTopupId === undefined ? undefined : eq(topups.externalTopupId, filter.externalTopupId),
    filter.packageId === undefined ? undefined : eq(topups.packageId, filter.packageId),
  );
  return viewsWhere(db, workPage('topup', owner, filter, page, own), page.limit);
}

export const pageOfTopups = pagesOf<TopupFilter, TopupView>('topup_page', listTopupViews);

function viewsWhere(db: Executor, where: SQL | undefined, limit: Given<number>) {
  const facts = attemptFacts(db, 'topup');
  return db
    .select({ topup: topups, ...factsOf(facts) })
    .from(topups)
    .crossJoinLateral(facts)
    .where(where)
    .orderBy(newestFirst('topup'))
    .limit(limit);
}
