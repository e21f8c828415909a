import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { deviceImeiAad } from '#db/encryption-aads.ts';
import { idempotencyKeys, orders, outbox, timeline } from '#db/schema.ts';
import { apiOfFile } from '#test/integration/api/support.ts';
import { orderCalls, orderInput, orderOf, problemOf } from '#test/support/api/order-calls.ts';
import { TEST_NOW } from '#test/support/network/api.ts';

const { api, caller } = await apiOfFile();

const { create } = orderCalls(() => caller);

describe('the creation of an order', () => {
  it('stores order, start request and first timeline entry together, and returns 202 with its address', async () => {
    const wakeUps = api.wakeUps();
    const body = orderInput({
      max_price: { amount: '12.50', currency: 'EUR' },
      deadline: '2030-02-01T01:00:00+01:00',
      metadata: { shop_order: 'A-1' },
    });
    const answer = await create(body);
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/v1/orders/${orderOf(answer).id}`);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^ord_[0-9A-Z]{26}$/),
      status: 'accepted',
      package_id: 101,
      external_order_id: body.external_order_id,
      batch_id: null,
      esim_id: null,
      service_order_id: null,
      customer_price: null,
      customer_reference: null,
      replaces: null,
      replaced_by: null,
      max_price: { amount: '12.50', currency: 'EUR' },
      charged: null,
      failure: null,
      attention: null,
      deadline: '2030-02-01T00:00:00.000Z',
      metadata: { shop_order: 'A-1' },
      created_by: expect.stringMatching(/^key_[0-9A-Z]{26}$/),
      created_at: new Date(TEST_NOW).toISOString(),
      updated_at: new Date(TEST_NOW).toISOString(),
      completed_at: null,
    });
    const { id } = orderOf(answer);
    const started = await api.database.run((db) => db.select().from(outbox).where(eq(outbox.subjectId, id)));
    expect(started).toMatchObject([{ topic: 'start_work' }]);
    const entries = await api.database.run((db) => db.select().from(timeline).where(eq(timeline.subjectId, id)));
    expect(entries).toMatchObject([{ event: 'order.accepted', dedupKey: 'order.accepted' }]);
    expect(api.wakeUps()).toBe(wakeUps + 1);
    expect((await caller.get(`/v1/orders/${id}`)).body).toEqual(answer.body);
  });

  it('repeats the first answer for the same key, also with reordered fields and after the deadline', async () => {
    const body = orderInput({ deadline: '2030-01-31T12:00:01Z' });
    const key = randomUUID();
    const first = await create(body, key);
    api.clock.now += 3_600_000;
    const second = await create(Object.fromEntries(Object.entries(body).toReversed()), key);
    api.clock.now = TEST_NOW;
    expect([second.status, second.text, second.headers.get('idempotent-replayed')]).toEqual([202, first.text, 'true']);
  });

  it('creates one order for fifty identical concurrent requests', async () => {
    const body = orderInput();
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(body, key)));
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted.length).toBeGreaterThan(0);
    expect(new Set(accepted.map(({ text }) => text)).size).toBe(1);
    for (const other of answers.filter(({ status }) => status !== 202)) {
      expect(problemOf(other)).toMatchObject({ status: 409, code: 'idempotency_in_progress' });
      expect(other.headers.get('retry-after')).toBe('1');
    }
    const rows = await api.database.run((db) =>
      db.select().from(orders).where(eq(orders.externalOrderId, body.external_order_id)),
    );
    expect(rows).toHaveLength(1);
    expect((await create(body, key)).text).toBe(accepted[0]?.text);
  });

  it('creates one order for fifty keys with one external_order_id, and names it in each refusal', async () => {
    const body = orderInput();
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(body)));
    const made = answers.filter(({ status }) => status === 202);
    expect(made).toHaveLength(1);
    const { id } = orderOf(made[0]!);
    for (const refused of answers.filter(({ status }) => status !== 202)) {
      expect(problemOf(refused)).toMatchObject({
        status: 409,
        code: 'external_order_id_taken',
        existing: { id, href: `/v1/orders/${id}` },
      });
    }
  });
});

const IMEI = '490154203237518';

const manyPairs = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, 'v']));
const limit = (amount: unknown) => ({ max_price: { amount, currency: 'EUR' } });

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
    ['a price with an exponent', limit('1e3'), 'max_price.amount'],
    ['a price below zero', limit('-1'), 'max_price.amount'],
    ['seven digits after the point', limit('1.0000001'), 'max_price.amount'],
    ['an amount as a number', limit(12.5), 'max_price.amount'],
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
