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

const manyPairs = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, 'v']));

describe('the input check of an order', () => {
  // The usual mistakes are in the test of natural mistakes.
  it.each<[string, Record<string, unknown>, string]>([
    ['a reference that could be a derived one', { external_order_id: 'a~2' }, 'external_order_id'],
    ['a reference of 65 characters', { external_order_id: 'x'.repeat(65) }, 'external_order_id'],
    ['a reference with NUL', { external_order_id: 'a\0b' }, 'external_order_id'],
    ['an IMEI of 13 digits', { device_imei: '4901542032375' }, 'device_imei'],
    ['an IMEI of 17 digits', { device_imei: '49015420323751812' }, 'device_imei'],
    ['an IMEI with a line feed', { device_imei: `${IMEI}\n` }, 'device_imei'],
    ['an IMEI in other digits', { device_imei: '٤٩٠١٥٤٢٠٣٢٣٧٥١٨' }, 'device_imei'],
    ['a price with an exponent', { max_price: { amount: '1e3', currency: 'EUR' } }, 'max_price.amount'],
    ['a price below zero', { max_price: { amount: '-1', currency: 'EUR' } }, 'max_price.amount'],
    ['seven digits after the point', { max_price: { amount: '1.0000001', currency: 'EUR' } }, 'max_price.amount'],
    ['an amount as a number', { max_price: { amount: 12.5, currency: 'EUR' } }, 'max_price.amount'],
    ['a deadline on a day that does not exist', { deadline: '2030-02-30T00:00:00Z' }, 'deadline'],
    ['a deadline that is now', { deadline: '2030-01-31T12:00:00Z' }, 'deadline'],
    ['21 pairs of metadata', { metadata: manyPairs }, 'metadata'],
    ['metadata with NUL', { metadata: { a: '\0' } }, 'metadata.a'],
    ['metadata with half a surrogate pair', { metadata: { a: '\ud800' } }, 'metadata.a'],
  ])('names the invalid field: %s', async (_name, change, field) => {
    const answer = await create(orderInput(change));
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(problemOf(answer)).toMatchObject({
      status: 400,
      code: 'validation_failed',
      type: expect.stringMatching(/^https:.*\/problems\/validation-failed$/),
      errors: [{ in: 'body', field, message: expect.any(String) }],
      request_id: answer.headers.get('x-request-id'),
    });
  });

  it('names all invalid fields at once, and missing ones', async () => {
    const answer = await create({ device_imei: 'x', colour: 'red' });
    expect(problemOf(answer).errors?.map(({ field, message }) => [field, message])).toEqual(
      expect.arrayContaining([
        ['package_id', 'is required'],
        ['external_order_id', 'is required'],
        ['device_imei', 'must have 14 to 16 digits and nothing else'],
        ['colour', expect.stringMatching(/^is not a known field; known are `package_id`/)],
      ]),
    );
  });

  it.each(['49015420323751', IMEI, '4901542032375181'])('accepts the IMEI %s', async (imei) => {
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
