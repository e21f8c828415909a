import { desc, eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { cancellations } from '#db/schema.ts';
import { acceptWork, intakeColumns, type Intake, type NewWork } from '#fulfilment/work/accept-work.ts';
import { newsColumns } from '#fulfilment/work/work-events.ts';

export interface NewCancellation extends Omit<NewWork, 'maxPrice'> {
  /** Ours; it exists. */
  readonly esimId: string;
  readonly reason: string | null;
  readonly acceptWithoutRefund: boolean;
}

/** Accepts a cancellation, in the caller's transaction; one of an eSIM at a time. */
export async function acceptCancellation(tx: Executor, cancellation: NewCancellation, now: Date): Promise<Intake> {
  const { id, esimId, reason, acceptWithoutRefund } = cancellation;
  const values = { ...intakeColumns({ ...cancellation, maxPrice: null }, now), esimId, reason, acceptWithoutRefund };
  return acceptWork(
    tx,
    { kind: 'cancellation', id },
    {
      insert: () =>
        tx.insert(cancellations).values(values).onConflictDoNothing().returning(newsColumns('cancellation')),
      holder: () =>
        tx
          .select({ id: cancellations.id })
          .from(cancellations)
          .where(eq(cancellations.esimId, esimId))
          // The one in the way may have been refused at this very moment; it is the newest all the same.
          .orderBy(desc(cancellations.createdAt))
          .limit(1),
      detail: { esim_id: esimId, accept_without_refund: acceptWithoutRefund },
    },
    now,
  );
}
