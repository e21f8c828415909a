/** The bytes of a purchase are made once, stored, and repeated by every send. */
import type * as z from 'zod';
import { isUnsignedDecimal, type Decimal } from '#domain/money/money.ts';
import {
  orderRequest,
  simulationRequest,
  topupRequest,
  vpnOrderRequest,
  type SimulatedState,
} from '#upstream/contract.ts';

/** @throws RangeError that names the fields that the contract refuses, never their values. */
export function orderRequestBytes(order: {
  readonly packageId: number;
  readonly reference: string;
  readonly deviceImei?: string;
}): Buffer {
  const fields = {
    package_id: order.packageId,
    external_order_id: order.reference,
    ...(order.deviceImei === undefined ? {} : { device_imei: order.deviceImei }),
  };
  return bytesOf(checked('an order request', orderRequest, fields));
}

/** @throws RangeError that names the fields that the contract refuses, never their values. */
export function topupRequestBytes(topup: { readonly esimId: string; readonly packageId: number }): Buffer {
  return bytesOf(checked('a top-up request', topupRequest, { esim_id: topup.esimId, package_id: topup.packageId }));
}

/**
 * The digits of `customer_price` are copied: no amount passes through a float.
 * @throws RangeError that names the fields that the contract refuses, never their values.
 */
export function vpnOrderRequestBytes(order: {
  readonly vpnPlanId: number;
  readonly reference: string;
  readonly customerReference: string;
  readonly customerPrice: Decimal;
}): Buffer {
  const { customerPrice } = order;
  const { customer_price: _price, ...others } = checked('a VPN order request', vpnOrderRequest, {
    vpn_plan_id: order.vpnPlanId,
    external_subscription_id: order.reference,
    customer_reference: order.customerReference,
    customer_price: isUnsignedDecimal(customerPrice) ? Number(customerPrice) : Number.NaN,
  });
  // Safe without escaping: `isUnsignedDecimal` accepts only plain decimal notation, which is valid JSON.
  return Buffer.from(`${JSON.stringify(others).slice(0, -1)},"customer_price":${customerPrice}}`, 'utf8');
}

/** @throws RangeError when the contract refuses the state. */
export function simulationRequestBytes(state: SimulatedState): Buffer {
  return bytesOf(checked('a simulation request', simulationRequest, { state }));
}

function checked<Schema extends z.ZodType>(what: string, schema: Schema, fields: unknown): z.output<Schema> {
  const result = schema.safeParse(fields);
  if (result.success) return result.data;
  const names = [...new Set(result.error.issues.map((issue) => issue.path.join('.')))];
  throw new RangeError(`${what} cannot be made: the contract refuses ${names.join(', ')}`);
}

function bytesOf(fields: unknown): Buffer {
  return Buffer.from(JSON.stringify(fields), 'utf8');
}
