import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { events } from '#db/schema.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { batchOf, ordersOfBatch } from '#test/support/api/order-batches.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const stack = disposedAtEnd(await startStack({ environment: RARE_UPKEEP }));
const desk = new OrderDesk(stack);

it('the cancellation of a batch before any workflow has begun lets none of its orders be sent', async () => {
  await stack.kill('worker');
  const body = { external_batch_id: randomUUID(), items: [{ package_id: PACKAGE.completedAtOnce, quantity: 5 }] };
  const placed = await postOnce(stack.api, '/v1/order-batches', body);
  expect(placed.status, placed.text).toBe(202);
  const id = placed.textAt('id');
  const answer = await stack.api.post(`/v1/order-batches/${id}/cancel`, { reason: 'A mistake.' });
  expect(batchOf(answer)).toMatchObject({ status: 'in_progress', counts: { accepted: 5 } });
  await stack.start('worker');
  const completed = await waitFor('the batch is completed', async () => {
    const batch = batchOf(await stack.api.get(`/v1/order-batches/${id}`));
    if (batch.status !== 'completed') throw new Error(JSON.stringify(batch.counts));
    return batch;
  });
  expect(completed).toMatchObject({ counts: { abandoned: 5, completed: 0 } });
  for (const order of await ordersOfBatch(stack, id)) {
    expect(await desk.sends(order.id)).toEqual([[]]);
    expect((await stack.api.get(`/v1/orders/${order.id}/timeline`)).text).toContain('A mistake.');
  }
  const announced = await stack.database.run((db) => db.select().from(events).where(eq(events.subjectId, id)));
  expect(announced).toMatchObject([{ type: 'order_batch.completed', data: { abandoned: 5 } }]);
  await desk.checkBooks();
});
