import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { events, orderBatches, orders, outbox, timeline } from '#db/schema.ts';
import { AT_ONCE } from '#domain/policy/api-policy.ts';
import { apiOfFile } from '#test/integration/api/support.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { batchCalls, batchInput, batchOf, ordersOfBatch } from '#test/support/api/order-batches.ts';
import { orderInput, problemOf } from '#test/support/api/order-calls.ts';
import { TEST_NOW } from '#test/support/network/api.ts';
import { statementsOf } from '#test/support/servers/statements.ts';

const { api, caller } = await apiOfFile();

const { create, place } = batchCalls(() => caller);
const IMEI = '356938035643809';
const euro = (amount: string) => ({ amount, currency: 'EUR' });

/** The number of rows that an acceptance writes, in all its tables. */
const written = () =>
  api.database.run(async (db) =>
    Promise.all([orderBatches, orders, outbox, timeline, events].map((table) => db.$count(table))),
  );

describe('the creation of a batch', () => {
  it('stores all orders, each with its start request, timeline entry and event, and returns 202 with its address', async () => {
    const body = batchInput(
      [
        { package_id: 101, quantity: 2, max_price: euro('12.50'), metadata: { desk: '1' } },
        { package_id: 102, deadline: '2030-02-01T00:00:00Z', customer_reference: 'C-7' },
      ],
      { metadata: { campaign: 'spring' } },
    );
    const answer = await create(body);
    expect(answer.status, answer.text).toBe(202);
    const batch = batchOf(answer);
    expect(answer.headers.get('location')).toBe(`/v1/order-batches/${batch.id}`);
    expect(batch).toMatchObject({
      external_batch_id: body.external_batch_id,
      status: 'in_progress',
      size: 3,
      counts: { accepted: 3, held: 0, completed: 0 },
      charged: [],
      items: [
        { package_id: 101, quantity: 2, max_price: euro('12.50'), customer_reference: null, metadata: { desk: '1' } },
        { package_id: 102, quantity: 1, max_price: null, customer_reference: 'C-7', metadata: {} },
      ],
      metadata: { campaign: 'spring' },
      created_at: new Date(TEST_NOW).toISOString(),
      completed_at: null,
      cancel_requested_at: null,
    });
    expect((await caller.get(`/v1/order-batches/${batch.id}`)).body).toEqual(answer.body);

    const stored = await ordersOfBatch(api, batch.id);
    expect(stored).toMatchObject([
      { packageId: 101, batchPosition: 1, maxPriceAmount: '12.500000', metadata: { desk: '1' }, deadlineAt: null },
      { packageId: 101, batchPosition: 2, maxPriceAmount: '12.500000', metadata: { desk: '1' }, deadlineAt: null },
      { packageId: 102, batchPosition: 3, maxPriceAmount: null, metadata: {}, deadlineAt: new Date('2030-02-01') },
    ]);
    expect(stored.map(({ externalOrderId }) => externalOrderId)).toEqual(
      ['0001', '0002', '0003'].map((position) => `${body.external_batch_id}-${position}`),
    );
    for (const { id } of stored) {
      const [started, entries, announced] = await api.database.run((db) =>
        Promise.all([
          db.select().from(outbox).where(eq(outbox.subjectId, id)),
          db.select().from(timeline).where(eq(timeline.subjectId, id)),
          db.select().from(events).where(eq(events.subjectId, id)),
        ]),
      );
      expect(started).toMatchObject([{ topic: 'start_work', subjectKind: 'order' }]);
      expect(entries).toMatchObject([{ event: 'order.accepted', detail: { batch_id: batch.id } }]);
      const data = { batch_id: batch.id, previous_status: null };
      expect(announced).toMatchObject([{ type: 'order.accepted', data }]);
    }
  });

  it('writes what single orders write: their rows differ in nothing but ids, references and batch', async () => {
    const id = (await postOnce(caller, '/v1/orders', orderInput())).textAt('id');
    const [inBatch] = await ordersOfBatch(api, await place([{ package_id: 101 }]));
    const [alone] = await api.database.run((db) => db.select().from(orders).where(eq(orders.id, id)));
    const isRequestId: unknown = expect.stringMatching(/^req_/);
    const own = { id: '', externalOrderId: '', requestKey: null, batchId: null, batchPosition: null };
    expect([inBatch, alone]).toMatchObject([{ requestId: isRequestId }, { requestId: isRequestId }]);
    expect({ ...inBatch, ...own, requestId: '' }).toEqual({ ...alone, ...own, requestId: '' });
  });

  it('sends the same number of statements for 1,000 eSIMs as for one', async () => {
    const sent = async (quantity: number) =>
      statementsOf(async () => expect((await create(batchInput([{ package_id: 101, quantity }]))).status).toBe(202));
    const one = await sent(1);
    expect(await sent(1_000)).toHaveLength(one.length);
    expect(one.length).toBeLessThanOrEqual(12);
  });

  it('takes 1,000 items with metadata, in a body that is longer than those of other calls', async () => {
    const items = Array.from({ length: 1_000 }, (_, index) => ({
      package_id: 101,
      metadata: { traveller: `T-${index}`, note: 'x'.repeat(100) },
    }));
    const body = batchInput(items);
    expect(JSON.stringify(body).length).toBeGreaterThan(65_536);
    const stored = await ordersOfBatch(api, batchOf(await create(body)).id);
    expect(stored.map(({ metadata }) => metadata)).toEqual(items.map(({ metadata }) => metadata));
    const tooLong = await create({ ...body, padding: 'x'.repeat(3 * 1_048_576) });
    expect(problemOf(tooLong)).toMatchObject({ code: 'payload_too_large', detail: 'The limit is 3145728 bytes.' });
  });

  it('happens once, however many requests with its reference arrive at the same moment', async () => {
    const body = batchInput([{ package_id: 101, quantity: 20 }]);
    const answers = await Promise.all(Array.from({ length: AT_ONCE.many }, () => create(body)));
    const [accepted, ...others] = answers.filter(({ status }) => status === 202);
    expect(others).toEqual([]);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused).toHaveLength(AT_ONCE.many - 1);
    for (const answer of refused) {
      expect(problemOf(answer).code).toBe('external_batch_id_taken');
      expect(answer.at('existing')).toMatchObject({ id: accepted?.textAt('id') });
    }
  });

  it('gives the batch and its orders the same ids when PostgreSQL has lost them', async () => {
    const body = batchInput();
    const id = batchOf(await create(body)).id;
    const ids = (await ordersOfBatch(api, id)).map((order) => order.id);
    for (const order of ids) await api.database.run((db) => db.delete(outbox).where(eq(outbox.subjectId, order)));
    await api.database.run((db) => db.delete(orders).where(eq(orders.batchId, id)));
    await api.database.run((db) => db.delete(orderBatches).where(eq(orderBatches.id, id)));
    await api.database.run((db) => db.execute(sql`delete from timeline`));
    expect(batchOf(await create(body)).id).toBe(id);
    expect((await ordersOfBatch(api, id)).map((order) => order.id)).toEqual(ids);
  });
});

describe('a batch that is refused', () => {
  it('stores nothing when one of its references is taken, and names that order', async () => {
    const body = batchInput();
    const third = orderInput({ external_order_id: `${body.external_batch_id}-0003` });
    const order = await postOnce(caller, '/v1/orders', third);
    const before = await written();
    const answer = await create(body);
    expect(problemOf(answer)).toMatchObject({ status: 409, code: 'external_order_id_taken' });
    expect(answer.at('existing')).toMatchObject({ id: order.textAt('id') });
    expect(await written()).toEqual(before);
  });

  it('stores nothing when one item cannot be bought, and names all objections with their item', async () => {
    const before = await written();
    const key = randomUUID();
    const items = [
      { package_id: 101 },
      { package_id: 77_777, quantity: 5 },
      { package_id: 103, max_price: { amount: '40', currency: 'USD' } },
      { package_id: 103, if_unavailable: 'hold' },
    ];
    const body = batchInput(items);
    const answer = await create(body, key);
    const problem = problemOf(answer);
    expect(problem).toMatchObject({ status: 422, code: 'purchase_not_possible' });
    const fields = problem.errors?.map(({ field }) => field);
    expect(fields).toEqual(['items.1.package_id', 'items.2.package_id', 'items.2.max_price.currency']);
    expect(problem.detail).toMatch(/^The field `items\.1\.package_id` is not the id of a package .*2 more errors/);
    expect(await written()).toEqual(before);
    const corrected = { ...body, items: [items[0], items[3]] };
    expect((await create(corrected, key)).status, 'the key and the reference stay free').toBe(202);
  });

  it('names every deadline that has passed and every quote that cannot be used, with its item', async () => {
    const token = (await caller.post('/v1/quotes', { package_id: 102 })).textAt('id');
    const before = await written();
    const items = [
      { package_id: 102, quote_id: token },
      { package_id: 101, quote_id: token },
      { package_id: 101, deadline: '2029-01-01T00:00:00Z' },
    ];
    const answer = await create(batchInput(items));
    expect(problemOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    expect(problemOf(answer).errors?.map(({ field }) => field)).toEqual(['items.1.quote_id', 'items.2.deadline']);
    expect(await written()).toEqual(before);
    const accepted = batchOf(await create(batchInput([{ package_id: 102, quantity: 2, quote_id: token }])));
    expect(accepted.items).toMatchObject([{ package_id: 102, quantity: 2, max_price: euro('3.455') }]);
  });

  it.each([
    ['no items', { items: [] }, 'items'],
    ['a quantity of 0', { items: [{ package_id: 101, quantity: 0 }] }, 'items.0.quantity'],
    ['more than 1,000 eSIMs in all', { items: [999, 2].map((quantity) => ({ package_id: 101, quantity })) }, 'items'],
    ['an IMEI, which is of one device', { items: [{ package_id: 101, device_imei: IMEI }] }, 'items.0.device_imei'],
    ['a reference that is too long', { external_batch_id: 'x'.repeat(60) }, 'external_batch_id'],
    ['a reference with the reserved character', { external_batch_id: 'a~2' }, 'external_batch_id'],
  ])('has %s', async (_what, more, field) => {
    const answer = await create({ ...batchInput(), ...more });
    expect(problemOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', errors: [{ field }] });
  });

  it('of another key, limited to its own work, learns no id of it', async () => {
    const body = batchInput();
    const { id } = batchOf(await create(body));
    const limited = await api.caller(undefined, { ownWorkOnly: true });
    const answer = await create(body, randomUUID(), limited);
    expect(answer.status).toBe(409);
    expect(answer.text).not.toContain(id);
  });
});
