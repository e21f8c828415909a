import { desc, eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { cancellations } from '#db/schema.ts';
import type { CancellationRow } from '#db/work/rows.ts';
import type { OnUnmetConditions } from '#domain/cancellation/refund-conditions.ts';
import { acceptWork, newWorkColumns, type Acceptance, type NewWork } from '#fulfilment/accept/work.ts';

interface NewCancellation extends Omit<NewWork, 'maxPrice'> {
  /** Our id; the eSIM exists. */
  readonly esimId: string;
  readonly reason: string | null;
  readonly onUnmetConditions: OnUnmetConditions;
}

/** One per eSIM may be open. */
export async function acceptCancellation(
  tx: Executor,
  cancellation: NewCancellation,
  now: Date,
): Promise<Acceptance<CancellationRow>> {
  const { id, esimId, reason, onUnmetConditions } = cancellation;
  const values = {
    ...newWorkColumns({ ...cancellation, maxPrice: null }, now),
    esimId,
    reason,
    onUnmetConditions,
  };
  return acceptWork(
    tx,
    { kind: 'cancellation', id },
    {
      insert: () => tx.insert(cancellations).values(values).onConflictDoNothing().returning(),
      holder: () =>
        tx
          .select({ id: cancellations.id })
          .from(cancellations)
          .where(eq(cancellations.esimId, esimId))
          // The blocking one may have been refused just now; it is still the newest.
          .orderBy(desc(cancellations.createdAt))
          .limit(1),
      detail: { esim_id: esimId, on_unmet_conditions: onUnmetConditions },
    },
    now,
  );
}
