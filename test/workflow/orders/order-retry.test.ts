import { expect, it } from 'vitest';
import { waitFor } from '#test/support/wait-for.ts';
import { orderWith, report, retry, shownAfter, withOrder } from '#test/support/work/workflows/order-workflow.ts';

/** A separate file, because the time-skipping server stops skipping after a refused update. */

it('a retry by an operator is refused for an order with a contradiction', async () => {
  const order = await orderWith(['answers failed']);
  await withOrder(order, {}, async (handle) => {
    await waitFor('it is sent', () => order.sent.length === 1);
    await report(handle, { decision: 'contradiction' });
    expect(await shownAfter('2 days', handle)).toMatchObject({ attention: 'contradiction' });
    await expect(retry(handle)).rejects.toMatchObject({ name: 'WorkflowUpdateFailedError' });
  });
  expect(order.sent).toHaveLength(1);
});
