import { describe, expect, it } from 'vitest';
import { orderRequestBytes, topupRequestBytes, vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';

const ORDER = { deviceImei: '490154203237518', reference: 'shop-1', packageId: 12 };
const TOPUP = { packageId: 12, esimId: 'e_1' };
const VPN = { vpnPlanId: 3, reference: 'sub-1', customerReference: 'c-9', customerPrice: '12.50' };

it('orderRequestBytes has the fields in the specified order, for any order of the input', () => {
  const text = '{"package_id":12,"external_order_id":"shop-1","device_imei":"490154203237518"}';
  expect(orderRequestBytes(ORDER).toString()).toBe(text);
});

it('the bytes of top-ups and VPN orders have the fields in the order of the specification', () => {
  expect(topupRequestBytes(TOPUP).toString()).toBe('{"esim_id":"e_1","package_id":12}');
  expect(vpnOrderRequestBytes(VPN).toString()).toBe(
    '{"vpn_plan_id":3,"external_subscription_id":"sub-1","customer_reference":"c-9","customer_price":12.50}',
  );
});

const order = (changes: object) => () => orderRequestBytes({ ...ORDER, ...changes });
const topup = (changes: object) => () => topupRequestBytes({ ...TOPUP, ...changes });
const vpn = (changes: object) => () => vpnOrderRequestBytes({ ...VPN, ...changes });

it.each<[string, string, () => unknown]>([
  ['an order', 'package_id', order({ packageId: -1 })],
  ['an order', 'package_id', order({ packageId: 1.5 })],
  ['an order', 'external_order_id', order({ reference: '' })],
  ['an order', 'device_imei', order({ deviceImei: '49-015420-323751-8' })],
  ['a top-up', 'esim_id', topup({ esimId: 'e 1' })],
  ['a top-up', 'esim_id, package_id', topup({ esimId: '', packageId: -1 })],
  ['a VPN order', 'vpn_plan_id', vpn({ vpnPlanId: -1 })],
  ['a VPN order', 'external_subscription_id', vpn({ reference: '' })],
  ['a VPN order', 'customer_reference', vpn({ customerReference: '' })],
])('the bytes of %s: the error names %s, and not its value, when the contract refuses it', (what, fields, make) => {
  expect(make).toThrow(new RangeError(`${what} request cannot be made: the contract refuses ${fields}`));
});

describe('customer_price', () => {
  const amounts = ['0', '0.10', '12.50', '9.99', '1.005', '123456789012345.123456'];
  it.each(amounts)('is written as a JSON number with exactly these digits: %s', (customerPrice) => {
    const text = vpnOrderRequestBytes({ ...VPN, customerPrice }).toString();
    expect(text.slice(text.indexOf('"customer_price"'))).toBe(`"customer_price":${customerPrice}}`);
    expect(JSON.parse(text)).toHaveProperty('customer_price', Number(customerPrice));
  });

  const others = ['', '-1', '-0', '1e3', '.5', '5.', '05', '1,50', ' 1', 'NaN', 'Infinity', '1.0000001', '1}', '"1"'];
  it.each(others)('is refused when it is no plain amount of at least zero: %j', (customerPrice) => {
    const text = 'a VPN order request cannot be made: the contract refuses customer_price';
    expect(vpn({ customerPrice })).toThrow(new RangeError(text));
  });
});
