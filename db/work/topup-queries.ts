/** Top-ups as the API shows them. */
import { and, eq, type SQL, inArray } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { Given, GivenFilter, GivenPage } from '#db/lists/given-values.ts';
import { findOneOfOwner, type Owner } from '#db/lists/ownership.ts';
import { pagesOf } from '#db/lists/pagination.ts';
import { topups, esims } from '#db/schema.ts';
import type { TopupRow } from '#db/work/rows.ts';
import {
  attemptFacts,
  factsOf,
  newestFirst,
  workPage,
  type AttemptFacts,
  type WorkFilter,
} from '#db/work/work-queries.ts';
import { WorkMissingError } from '#db/work/work-rows.ts';

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

/** A top-up with the eSIM that it is for. */
export interface TopupOfEsim {
  readonly topup: TopupRow;
  readonly esim: typeof esims.$inferSelect;
}

/** @throws WorkMissingError */
export async function readTopup(db: Executor, topupId: string): Promise<TopupOfEsim> {
  const [row] = await db
    .select({ topup: topups, esim: esims })
    .from(topups)
    .innerJoin(esims, eq(esims.id, topups.esimId))
    .where(eq(topups.id, topupId));
  if (row === undefined) throw new WorkMissingError({ kind: 'topup', id: topupId });
  return row;
}

/** The packages of some top-ups, by our ids of these. */
export async function packagesOfTopups(
  db: Executor,
  topupIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .select({ id: topups.id, packageId: topups.packageId })
    .from(topups)
    .where(inArray(topups.id, [...topupIds]));
  return new Map(rows.map(({ id, packageId }) => [id, packageId]));
}
