import { eq, inArray } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { oneOf } from '#db/lists/pages.ts';
import { topups, esims } from '#db/schema.ts';
import { type TopupRow, WorkMissingError } from '#db/work/rows.ts';
import { attemptSummary, summaryColumns, type WorkFilter, workReads, type StoredWork } from '#db/work/work-reads.ts';

export type StoredTopup = StoredWork<TopupRow>;

interface TopupFilter extends WorkFilter {
  readonly esimId?: string | undefined;
  readonly externalTopupIds?: readonly string[] | undefined;
  readonly packageId?: number | undefined;
  readonly customerReferenceHash?: Buffer | undefined;
}

export const topupReads = workReads<StoredTopup, TopupFilter>(
  'topup',
  {
    esimId: topups.esimId,
    externalTopupIds: oneOf(topups.externalTopupId),
    packageId: topups.packageId,
    customerReferenceHash: topups.customerReferenceHash,
  },
  (db) => {
    const facts = attemptSummary(db, 'topup');
    return db
      .select({ row: topups, ...summaryColumns(facts) })
      .from(topups)
      .crossJoinLateral(facts);
  },
);

interface TopupOfEsim {
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
