import { describe, expect, it } from 'vitest';
import { orderRequestBytes } from '#upstream/request-bytes.ts';

describe('orderRequestBytes', () => {
  it('has the fields in the order of the specification, whatever the order they are given in', () => {
    const bytes = orderRequestBytes({ deviceImei: '490154203237518', reference: 'shop-1', packageId: 12 });
    expect(bytes.toString()).toBe('{"package_id":12,"external_order_id":"shop-1","device_imei":"490154203237518"}');
  });

  it('leaves the IMEI out where there is none', () => {
    expect(orderRequestBytes({ packageId: 12, reference: 'shop-1' }).toString()).toBe(
      '{"package_id":12,"external_order_id":"shop-1"}',
    );
  });

  it('is UTF-8', () => {
    expect(orderRequestBytes({ packageId: 1, reference: 'é' }).includes(Buffer.from([0xc3, 0xa9]))).toBe(true);
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
