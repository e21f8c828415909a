import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { orders, outbox, timeline } from '#db/schema.ts';
import { orderCalls, orderInput, orderOf, problemOf } from '#test/support/api/order-calls.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

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
