import type { Executor } from '#db/connection/database.ts';
import { topups } from '#db/schema.ts';
import { findHolderId } from '#db/work/reference-holders.ts';
import type { TopupRow } from '#db/work/rows.ts';
import {
  acceptWork,
  newCustomerColumns,
  newCustomerPriceColumns,
  newReferenceColumns,
  newWorkColumns,
  replaced,
  type Acceptance,
  type NewCustomer,
  type NewWork,
} from '#fulfilment/accept/work.ts';

interface NewTopup extends NewWork {
  /** Our id; the eSIM exists. */
  readonly esimId: string;
  readonly packageId: number;
  /** For the caller only: the service takes no reference for a top-up. */
  readonly externalTopupId: string | null;
  readonly customer?: NewCustomer | undefined;
}

export async function acceptTopup(tx: Executor, topup: NewTopup, now: Date): Promise<Acceptance<TopupRow>> {
  const { id, esimId, packageId, externalTopupId } = topup;
  const own = {
    esimId,
    packageId,
    externalTopupId,
    ...newCustomerColumns(topup.customer),
    ...newCustomerPriceColumns(topup),
  };
  const values = { ...newWorkColumns(topup, now), ...newReferenceColumns(topup), ...own };
  return acceptWork(
    tx,
    { kind: 'topup', id },
    {
      insert: () => tx.insert(topups).values(values).onConflictDoNothing().returning(),
      // Only a reference can conflict; without one this matches nothing.
      holder: () => findHolderId(tx, 'topup', externalTopupId ?? ''),
      detail: { esim_id: esimId, package_id: packageId, ...replaced(topup) },
    },
    now,
  );
}
