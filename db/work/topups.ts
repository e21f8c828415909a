import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { oneOf, type PageOptions } from '#db/lists/pages.ts';
import { topups, esims } from '#db/schema.ts';
import { type TopupRow, WorkMissingError } from '#db/work/rows.ts';
import {
  attemptSummary,
  findOwn,
  summaryColumns,
  type WorkFilter,
  workPage,
  type StoredWork,
} from '#db/work/work-reads.ts';

export type StoredTopup = StoredWork<TopupRow>;

interface TopupFilter extends WorkFilter {
  readonly esimId?: string | undefined;
  readonly externalTopupIds?: readonly string[] | undefined;
  readonly packageId?: number | undefined;
  readonly customerReferenceHash?: Buffer | undefined;
}

function select(db: Executor) {
  const facts = attemptSummary(db, 'topup');
  return db
    .select({ row: topups, ...summaryColumns(facts) })
    .from(topups)
    .crossJoinLateral(facts)
    .$dynamic();
}

export const topupReads = {
  find: (db: Executor, id: string, owner: Owner): Promise<StoredTopup | undefined> =>
    findOwn(db, 'topup', select, id, owner),
  page: (db: Executor, owner: Owner, filter: TopupFilter, page: PageOptions) => {
    const own = [
      [topups.esimId, filter.esimId],
      [topups.packageId, filter.packageId],
      [topups.customerReferenceHash, filter.customerReferenceHash],
    ] as const;
    const references = filter.externalTopupIds && oneOf(topups.externalTopupId, filter.externalTopupIds);
    return workPage(db, 'topup', select, owner, filter, page, own, references);
  },
};

/** @throws WorkMissingError */
export async function readTopup(db: Executor, topupId: string) {
  const [row] = await db
    .select({ topup: topups, esim: esims })
    .from(topups)
    .innerJoin(esims, eq(esims.id, topups.esimId))
    .where(eq(topups.id, topupId));
  if (row === undefined) throw new WorkMissingError({ kind: 'topup', id: topupId });
  return row;
}
