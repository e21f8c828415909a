import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { DATABASE_EPOCH } from '#db/connection/database-epoch.ts';
import { events } from '#db/schema.ts';
import { apiOfFile, auditOf, changeOrder } from '#test/integration/api/support.ts';
import { batchCalls, batchOf, deliver, ordersOfBatch } from '#test/support/api/order-batches.ts';
import { endTestOrder, openTestAttempt, claimTestSend } from '#test/support/work/order-rows.ts';

const { api, caller } = await apiOfFile();

const { place } = batchCalls(() => caller);
const read = async (id: string) => batchOf(await caller.get(`/v1/order-batches/${id}`));
const cancel = (id: string, reason = 'The campaign was stopped.') =>
  caller.post(`/v1/order-batches/${id}/cancel`, { reason });
const announced = (id: string) => api.database.run((db) => db.select().from(events).where(eq(events.subjectId, id)));
const orderIds = async (id: string) => (await ordersOfBatch(api, id)).map((order) => order.id);

/** Marks orders as known to their workflows, as each is soon after its acceptance. */
async function compare(ids: readonly string[]): Promise<void> {
  for (const id of ids) await changeOrder(api, id, { comparedEpoch: DATABASE_EPOCH });
}

describe('a batch', () => {
  it('counts its orders by status, and adds up what they cost', async () => {
    const id = await place([{ package_id: 101, quantity: 5 }]);
    const [first, second, third] = await orderIds(id);
    await deliver(api, first!);
    await deliver(api, second!);
    await endTestOrder(api.database, third!);
    expect(await read(id)).toMatchObject({
      status: 'in_progress',
      counts: { accepted: 2, completed: 2, failed: 1, abandoned: 0 },
      charged: [{ amount: '4.80', currency: 'EUR' }],
      completed_at: null,
    });
    expect(await announced(id)).toEqual([]);
  });

  it('is completed with its last order, and announces that once, however many end at the same moment', async () => {
    const id = await place([{ package_id: 101, quantity: 30 }]);
    const [failed, abandoned, ...others] = await orderIds(id);
    await Promise.all([
      endTestOrder(api.database, failed!),
      endTestOrder(api.database, abandoned!, { status: 'abandoned' }),
      ...others.map((order) => deliver(api, order)),
    ]);
    const batch = await read(id);
    expect(batch).toMatchObject({ status: 'completed', counts: { completed: 28, failed: 1, abandoned: 1 } });
    expect(batch.completed_at).not.toBeNull();
    const { created_by: apiKeyId, external_batch_id } = batch;
    const data = { external_batch_id, size: 30, completed: 28, failed: 1, abandoned: 1 };
    const event = { type: 'order_batch.completed', subjectKind: 'order_batch', apiKeyId, data };
    expect(await announced(id)).toMatchObject([event]);
    await api.publish();
    const feed = await caller.get(`/v1/events?subject_id=${id}`);
    expect(feed.body).toMatchObject({ data: [{ subject: { href: `/v1/order-batches/${id}` } }] });
  });
});

describe('a cancelled batch', () => {
  it('abandons what has bought nothing, and never an order that may have been sent', async () => {
    const id = await place([{ package_id: 101, quantity: 4 }]);
    const [fresh, prepared, sending, done] = await orderIds(id);
    await compare([fresh!, prepared!, sending!, done!]);
    await openTestAttempt(api.database, prepared!);
    await claimTestSend(api.database, (await openTestAttempt(api.database, sending!)).id);
    await deliver(api, done!);

    const answer = await cancel(id);
    expect(answer.status, answer.text).toBe(200);
    expect(batchOf(answer)).toMatchObject({ status: 'in_progress', counts: { abandoned: 2, completed: 1 } });
    expect(batchOf(answer).cancel_requested_at).not.toBeNull();
    const statuses = new Map((await ordersOfBatch(api, id)).map((order) => [order.id, order.status]));
    const present = [fresh, prepared, sending, done].map((order) => statuses.get(order!));
    expect(present).toEqual(['abandoned', 'abandoned', 'accepted', 'completed']);
    const before = await caller.get(`/v1/orders/${fresh}/timeline`);
    expect(before.text).toContain('The campaign was stopped.');

    // A repetition with another reason continues the first cancellation.
    expect((await cancel(id, 'Again.')).text).toBe(answer.text);
    expect((await caller.get(`/v1/orders/${fresh}/timeline`)).text).toBe(before.text);
    await endTestOrder(api.database, sending!, { status: 'abandoned' });
    expect(await read(id)).toMatchObject({ status: 'completed', counts: { abandoned: 3, completed: 1 } });
    const entry = { action: 'order_batch.cancel', reason: 'The campaign was stopped.' };
    expect(await auditOf(api, id)).toMatchObject([entry]);
  });

  it('leaves an order to its workflow while PostgreSQL may have lost its sends', async () => {
    const id = await place([{ package_id: 101, quantity: 2 }]);
    expect(batchOf(await cancel(id))).toMatchObject({ counts: { accepted: 2, abandoned: 0 } });
    await compare(await orderIds(id));
    expect(batchOf(await cancel(id))).toMatchObject({ status: 'completed', counts: { abandoned: 2 } });
  });

  it('that is completed is not changed', async () => {
    const id = await place([{ package_id: 101 }]);
    for (const order of await orderIds(id)) await deliver(api, order);
    expect(batchOf(await cancel(id))).toMatchObject({ status: 'completed', cancel_requested_at: null });
  });
});
