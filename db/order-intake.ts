import { eq } from 'drizzle-orm';
import type { Executor } from '#db/database.ts';
import { orders } from '#db/schema.ts';
import { acceptWork, intakeColumns, type Intake, type NewWork } from '#db/work-intake.ts';

export interface NewOrder extends NewWork {
  readonly externalOrderId: string;
  readonly packageId: number;
  /** Sealed for `deviceImeiPlace` of `orders.ts`. */
  readonly sealedDeviceImei: Buffer | null;
}

/** Accepts an order, in the caller's transaction. */
export async function acceptOrder(tx: Executor, order: NewOrder, now: Date): Promise<Intake> {
  const { id, externalOrderId, packageId, sealedDeviceImei } = order;
  const values = { ...intakeColumns(order, now), externalOrderId, packageId, sealedDeviceImei };
  return acceptWork(
    tx,
    { kind: 'order', id },
    {
      insert: () =>
        tx.insert(orders).values(values).onConflictDoNothing({ target: orders.externalOrderId }).returning({ id: orders.id }),
      holder: () => tx.select({ id: orders.id }).from(orders).where(eq(orders.externalOrderId, externalOrderId)),
      detail: { package_id: packageId },
    },
    now,
  );
}
