import { sql } from 'drizzle-orm';
import { builtOnce } from '#db/connection/built-once.ts';
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

const { placeholder } = sql;

/** Prepared, because orders arrive in large numbers. */
const insertOrder = builtOnce((db) =>
  db
    .insert(orders)
    .values({
      id: placeholder('id'),
      apiKeyId: placeholder('apiKeyId'),
      maxPriceAmount: placeholder('maxPriceAmount'),
      maxPriceCurrency: placeholder('maxPriceCurrency'),
      // The column does not accept a null placeholder.
      deadlineAt: sql`${placeholder('deadlineAt')}::timestamptz`,
      whenUsedUp: placeholder('whenUsedUp'),
      metadata: placeholder('metadata'),
      createdAt: placeholder('createdAt'),
      updatedAt: placeholder('updatedAt'),
      requestId: placeholder('requestId'),
      traceparent: placeholder('traceparent'),
      externalOrderId: placeholder('externalOrderId'),
      referenceUse: placeholder('referenceUse'),
      replacesId: placeholder('replacesId'),
      requestKey: placeholder('requestKey'),
      encryptedCustomerReference: placeholder('encryptedCustomerReference'),
      customerReferenceHash: placeholder('customerReferenceHash'),
      packageId: placeholder('packageId'),
      customerPrice: placeholder('customerPrice'),
      customerPriceCurrency: placeholder('customerPriceCurrency'),
      encryptedDeviceImei: placeholder('encryptedDeviceImei'),
    } satisfies Record<keyof OrderValues, unknown>)
    .onConflictDoNothing()
    .returning()
    .prepare('accept_order'),
);

type OrderValues = ReturnType<typeof newWorkColumns> &
  ReturnType<typeof newReferenceColumns> &
  ReturnType<typeof newCustomerColumns> &
  ReturnType<typeof newCustomerPriceColumns> &
  Omit<NewOrder, keyof NewWork | 'customer'>;

export function orderValues(order: NewOrder, now: Date): OrderValues {
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
      insert: () => insertOrder(tx, orderValues(order, now)),
      holder: () => findHolderId(tx, 'order', externalOrderId),
      detail: { package_id: packageId, ...replaced(order) },
    },
    now,
  );
}
