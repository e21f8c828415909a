import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { events } from '#db/schema.ts';
import { batchOf, ordersOfBatch } from '#test/support/api/order-batches.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const stack = disposedAtEnd(await startStack({ environment: RARE_UPKEEP }));
const desk = new OrderDesk(stack);

const read = async (id: string) => batchOf(await stack.api.get(`/v1/order-batches/${id}`));

async function place(quantity: number): Promise<string> {
  const body = { external_batch_id: randomUUID(), items: [{ package_id: PACKAGE.completedAtOnce, quantity }] };
  const answer = await stack.api.post('/v1/order-batches', body, { headers: { 'Idempotency-Key': randomUUID() } });
  expect(answer.status, answer.text).toBe(202);
  return answer.textAt('id');
}

const completed = (id: string) =>
  waitFor('the batch is completed', async () => {
    const batch = await read(id);
    if (batch.status !== 'completed') throw new Error(JSON.stringify(batch.counts));
    return batch;
  });

describe('the cancellation of a batch', () => {
  it('before any workflow has begun lets none of its orders be sent', async () => {
    await stack.kill('worker');
    const id = await place(5);
    const answer = await stack.api.post(`/v1/order-batches/${id}/cancel`, { reason: 'A mistake.' });
    expect(batchOf(answer)).toMatchObject({ status: 'in_progress', counts: { accepted: 5 } });
    await stack.start('worker');
    expect(await completed(id)).toMatchObject({ counts: { abandoned: 5, completed: 0 } });
    for (const order of await ordersOfBatch(stack, id)) {
      expect(await desk.sends(order.id)).toEqual([[]]);
      expect((await stack.api.get(`/v1/orders/${order.id}/timeline`)).text).toContain('A mistake.');
    }
    const announced = await stack.database.run((db) => db.select().from(events).where(eq(events.subjectId, id)));
    expect(announced).toMatchObject([{ type: 'order_batch.completed', data: { abandoned: 5 } }]);
    await desk.checkBooks();
  });
});
