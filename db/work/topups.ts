import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { oneOf } from '#db/lists/pages.ts';
import { topups, esims } from '#db/schema.ts';
import { type TopupRow, WorkMissingError } from '#db/work/rows.ts';
import { type WorkFilter, workReads, type StoredWork } from '#db/work/work-reads.ts';

export type StoredTopup = StoredWork<TopupRow>;

interface TopupFilter extends WorkFilter {
  readonly esimId?: string | undefined;
  readonly externalTopupIds?: readonly string[] | undefined;
  readonly packageId?: number | undefined;
  readonly customerReferenceHash?: Buffer | undefined;
}

export const topupReads = workReads<StoredTopup, TopupFilter>('topup', {
  esimId: topups.esimId,
  externalTopupIds: oneOf(topups.externalTopupId),
  packageId: topups.packageId,
  customerReferenceHash: topups.customerReferenceHash,
});

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
