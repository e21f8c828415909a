import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { deviceImeiAad } from '#db/encryption-aads.ts';
import { idempotencyKeys, orders } from '#db/schema.ts';
import { orderCalls, orderInput, orderOf, problemOf } from '#test/support/api/order-calls.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

const { create } = orderCalls(() => caller);
const IMEI = '490154203237518';

describe('the input check of an order', () => {
  const cases: [string, Record<string, unknown>, string][] = [
    ['no package', { package_id: undefined }, 'package_id'],
    ['a package id as text', { package_id: '101' }, 'package_id'],
    ['a fraction of a package', { package_id: 1.5 }, 'package_id'],
    ['a package id beyond the column', { package_id: 2 ** 31 }, 'package_id'],
    ['no reference', { external_order_id: undefined }, 'external_order_id'],
    ['a reference with a blank', { external_order_id: 'a b' }, 'external_order_id'],
    ['a reference that could be a derived one', { external_order_id: 'a~2' }, 'external_order_id'],
    ['a reference of 65 characters', { external_order_id: 'x'.repeat(65) }, 'external_order_id'],
    ['a reference with NUL', { external_order_id: 'a\0b' }, 'external_order_id'],
    ['an IMEI of 13 digits', { device_imei: '4901542032375' }, 'device_imei'],
    ['an IMEI of 17 digits', { device_imei: '49015420323751812' }, 'device_imei'],
    ['an IMEI with dashes', { device_imei: '49-015420-323751-8' }, 'device_imei'],
    ['an IMEI with a line feed', { device_imei: `${IMEI}\n` }, 'device_imei'],
    ['an IMEI in other digits', { device_imei: '٤٩٠١٥٤٢٠٣٢٣٧٥١٨' }, 'device_imei'],
    ['an IMEI as a number', { device_imei: 490_154_203_237_518 }, 'device_imei'],
    ['a price as a number', { max_price: { amount: 12.5, currency: 'EUR' } }, 'max_price.amount'],
    ['a price with an exponent', { max_price: { amount: '1e3', currency: 'EUR' } }, 'max_price.amount'],
    ['a price below zero', { max_price: { amount: '-1', currency: 'EUR' } }, 'max_price.amount'],
    ['seven digits after the point', { max_price: { amount: '1.0000001', currency: 'EUR' } }, 'max_price.amount'],
    ['a currency in lower case', { max_price: { amount: '1', currency: 'eur' } }, 'max_price.currency'],
    ['a price without currency', { max_price: { amount: '1' } }, 'max_price.currency'],
    ['a deadline without offset', { deadline: '2030-02-01T00:00:00' }, 'deadline'],
    ['a deadline on a day that does not exist', { deadline: '2030-02-30T00:00:00Z' }, 'deadline'],
    ['a deadline that is now', { deadline: '2030-01-31T12:00:00Z' }, 'deadline'],
    [
      '21 pairs of metadata',
      { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, 'v'])) },
      'metadata',
    ],
    ['metadata that is no text', { metadata: { a: 1 } }, 'metadata.a'],
    ['metadata with NUL', { metadata: { a: '\0' } }, 'metadata.a'],
    ['metadata with half a surrogate pair', { metadata: { a: '\ud800' } }, 'metadata.a'],
    ['metadata under an unusable name', { metadata: { 'a b': 'c' } }, 'metadata.a b'],
    ['an unknown field', { colour: 'red' }, 'colour'],
    ['an unknown inner field', { max_price: { amount: '1', currency: 'EUR', vat: '0' } }, 'max_price.vat'],
  ];

  it.each(cases)('names the invalid field: %s', async (_name, change, field) => {
    const answer = await create(orderInput(change));
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(problemOf(answer)).toMatchObject({
      code: 'validation_failed',
      type: expect.stringMatching(/^https:.*\/problems\/validation-failed$/),
      status: 400,
    });
    expect(problemOf(answer).errors).toEqual([{ in: 'body', field, message: expect.any(String) }]);
    expect(problemOf(answer).request_id).toBe(answer.headers.get('x-request-id'));
  });

  it('names all invalid fields at once, and missing ones', async () => {
    const answer = await create({ device_imei: 'x', colour: 'red' });
    expect(problemOf(answer).errors).toEqual(
      expect.arrayContaining([
        { in: 'body', field: 'package_id', message: 'is required' },
        { in: 'body', field: 'external_order_id', message: 'is required' },
        { in: 'body', field: 'device_imei', message: 'must have 14 to 16 digits and nothing else' },
        {
          in: 'body',
          field: 'colour',
          message: expect.stringMatching(/^is not a known field; known are `package_id`/),
        },
      ]),
    );
  });

  it.each([
    ['14', '49015420323751'],
    ['15', IMEI],
    ['16', '4901542032375181'],
  ])('accepts an IMEI of %s digits', async (_digits, imei) => {
    expect((await create(orderInput({ device_imei: imei }))).status).toBe(202);
  });

  it('keeps the IMEI encrypted in its row, and out of answers, log and stored answer', async () => {
    const key = randomUUID();
    const answer = await create(orderInput({ device_imei: IMEI }), key);
    const { id } = orderOf(answer);
    const [row] = await api.database.run((db) => db.select().from(orders).where(eq(orders.id, id)));
    expect(api.keyRing.decryptText(row!.encryptedDeviceImei!, deviceImeiAad(id))).toBe(IMEI);
    expect(row!.encryptedDeviceImei!.includes(IMEI)).toBe(false);
    const refused = await create(orderInput({ device_imei: `${IMEI}x` }));
    expect(answer.text + refused.text + (await caller.get(`/v1/orders/${id}`)).text).not.toContain(IMEI);
    expect(api.log.join('')).not.toContain(IMEI);
    const [stored] = await api.database.run((db) =>
      db.select().from(idempotencyKeys).where(eq(idempotencyKeys.key, key)),
    );
    expect(stored!.encryptedResponseBody.includes(Buffer.from(id))).toBe(false);
  });
});
