import type { Executor } from '#db/connection/database.ts';
import { orders } from '#db/schema.ts';
import { findHolderId } from '#db/work/reference-holders.ts';
import type { OrderRow } from '#db/work/rows.ts';
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

export interface NewOrder extends NewWork {
  readonly externalOrderId: string;
  readonly packageId: number;
  /** Encrypted with `deviceImeiAad`. */
  readonly encryptedDeviceImei: Buffer | null;
  readonly customer?: NewCustomer | undefined;
}

export function orderValues(order: NewOrder, now: Date) {
  const { externalOrderId, packageId, encryptedDeviceImei } = order;
  const own = {
    externalOrderId,
    packageId,
    encryptedDeviceImei,
    ...newCustomerColumns(order.customer),
    ...newCustomerPriceColumns(order),
  };
  return { ...newWorkColumns(order, now), ...newReferenceColumns(order), ...own };
}

export async function acceptOrder(tx: Executor, order: NewOrder, now: Date): Promise<Acceptance<OrderRow>> {
  const { id, externalOrderId, packageId } = order;
  return acceptWork(
    tx,
    { kind: 'order', id },
    {
      insert: () => tx.insert(orders).values(orderValues(order, now)).onConflictDoNothing().returning(),
      holder: () => findHolderId(tx, 'order', externalOrderId),
      detail: { package_id: packageId, ...replaced(order) },
    },
    now,
  );
}
