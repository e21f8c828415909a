import { orderRequest } from '#upstream/contract.ts';

/**
 * The exact bytes of `POST /orders` for an attempt: JSON in UTF-8, keys in the order of the specification, no spaces.
 * They are made once, stored, and repeated by every send of the attempt.
 *
 * @param order `reference` becomes `external_order_id`; `deviceImei` has 14 to 16 digits.
 * @throws RangeError that names the fields (never their values) that the contract refuses.
 */
export function orderRequestBytes(order: {
  readonly packageId: number;
  readonly reference: string;
  readonly deviceImei?: string;
}): Buffer {
  const checked = orderRequest.safeParse({
    package_id: order.packageId,
    external_order_id: order.reference,
    ...(order.deviceImei === undefined ? {} : { device_imei: order.deviceImei }),
  });
  if (!checked.success) {
    const fields = [...new Set(checked.error.issues.map((issue) => issue.path.join('.')))];
    throw new RangeError(`an order request cannot be made: the contract refuses ${fields.join(', ')}`);
  }
  return Buffer.from(JSON.stringify(checked.data), 'utf8');
}
