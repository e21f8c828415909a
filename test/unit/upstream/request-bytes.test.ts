import { describe, expect, it } from 'vitest';
import { orderRequestBytes, topupRequestBytes, vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';

describe('orderRequestBytes', () => {
  it('has the fields in the specified order, for any order of the input', () => {
    const bytes = orderRequestBytes({ deviceImei: '490154203237518', reference: 'shop-1', packageId: 12 });
    expect(bytes.toString()).toBe('{"package_id":12,"external_order_id":"shop-1","device_imei":"490154203237518"}');
  });

  it.each([
    ['package_id', { packageId: -1, reference: 'shop-1' }],
    ['package_id', { packageId: 1.5, reference: 'shop-1' }],
    ['external_order_id', { packageId: 1, reference: '' }],
    ['device_imei', { packageId: 1, reference: 'shop-1', deviceImei: '49-015420-323751-8' }],
  ])('names %s, and not its value, when the contract refuses it', (field, order) => {
    expect(() => orderRequestBytes(order)).toThrow(
      new RangeError(`an order request cannot be made: the contract refuses ${field}`),
    );
  });
});

describe('topupRequestBytes', () => {
  it('has the fields in the order of the specification', () => {
    expect(topupRequestBytes({ packageId: 12, esimId: 'e_1' }).toString()).toBe('{"esim_id":"e_1","package_id":12}');
  });

  it.each([
    ['esim_id', { esimId: '', packageId: 1 }],
    ['esim_id', { esimId: 'e 1', packageId: 1 }],
    ['package_id', { esimId: 'e_1', packageId: 1.5 }],
    ['esim_id, package_id', { esimId: '', packageId: -1 }],
  ])('names %s, and not its value, when the contract refuses it', (fields, topup) => {
    expect(() => topupRequestBytes(topup)).toThrow(
      new RangeError(`a top-up request cannot be made: the contract refuses ${fields}`),
    );
  });
});

describe('vpnOrderRequestBytes', () => {
  const ORDER = { vpnPlanId: 3, reference: 'sub-1', customerReference: 'c-9', customerPrice: '12.50' };

  it('has the fields in the order of the specification', () => {
    expect(vpnOrderRequestBytes(ORDER).toString()).toBe(
      '{"vpn_plan_id":3,"external_subscription_id":"sub-1","customer_reference":"c-9","customer_price":12.50}',
    );
  });

  it.each(['0', '0.10', '12.50', '9.99', '1.005', '123456789012345.123456'])(
    'writes customer_price as a JSON number with exactly these digits: %s',
    (customerPrice) => {
      const text = vpnOrderRequestBytes({ ...ORDER, customerPrice }).toString();
      expect(text.slice(text.indexOf('"customer_price"'))).toBe(`"customer_price":${customerPrice}}`);
      expect(JSON.parse(text)).toHaveProperty('customer_price', Number(customerPrice));
    },
  );

  it.each(['', '-1', '-0', '1e3', '.5', '5.', '05', '1,50', ' 1', 'NaN', 'Infinity', '1.0000001', '1}', '"1"'])(
    'refuses a customer_price that is no plain amount of at least zero: %j',
    (customerPrice) => {
      expect(() => vpnOrderRequestBytes({ ...ORDER, customerPrice })).toThrow(
        new RangeError('a VPN order request cannot be made: the contract refuses customer_price'),
      );
    },
  );

  it.each([
    ['vpn_plan_id', { vpnPlanId: -1 }],
    ['external_subscription_id', { reference: '' }],
    ['customer_reference', { customerReference: '' }],
  ])('names %s, and not its value, when the contract refuses it', (field, difference) => {
    expect(() => vpnOrderRequestBytes({ ...ORDER, ...difference })).toThrow(
      new RangeError(`a VPN order request cannot be made: the contract refuses ${field}`),
    );
  });
});
