import { eq, inArray } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { esims, topups } from '#db/schema.ts';
/** Top-ups as the API accepts them and as their activities see them, beyond what all work has (`work.ts`). */
import type { TopupRow } from '#db/work/rows.ts';
import { acceptWork, intakeColumns, type Intake, type NewWork } from '#fulfilment/work/accept-work.ts';
import { newsColumns } from '#fulfilment/work/work-events.ts';
import { WorkMissingError } from '#fulfilment/work/work.ts';

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

export interface NewTopup extends NewWork {
  /** Ours; it exists. */
  readonly esimId: string;
  readonly packageId: number;
  /** The service takes no reference of a top-up, so this one is for the caller alone. */
  readonly externalTopupId: string | null;
}

/** Accepts a top-up, in the caller's transaction. */
export async function acceptTopup(tx: Executor, topup: NewTopup, now: Date): Promise<Intake> {
  const { id, esimId, packageId, externalTopupId } = topup;
  const values = { ...intakeColumns(topup, now), esimId, packageId, externalTopupId };
  return acceptWork(
    tx,
    { kind: 'topup', id },
    {
      insert: () => tx.insert(topups).values(values).onConflictDoNothing().returning(newsColumns('topup')),
      // Only a reference can be taken; without one this matches nothing.
      holder: () =>
        tx
          .select({ id: topups.id })
          .from(topups)
          .where(eq(topups.externalTopupId, externalTopupId ?? '')),
      detail: { esim_id: esimId, package_id: packageId },
    },
    now,
  );
}
