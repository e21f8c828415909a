import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkedDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const simulator = { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' };
const stack = disposedAtEnd(await startStack({ environment: RARE_UPKEEP, simulator }));
const desk = checkedDesk(stack);

describe('a webhook delivery', () => {
  it('has no effect after a later one', async () => {
    await desk.refuseReads();
    await desk.simulator.onWebhook('order.processing', { kind: 'out_of_order', ms: 10_000 });
    const order = await desk.complete(PACKAGE.processingThenCompleted);
    const id = order.textAt('id');
    const rows = await waitFor('both events have arrived', async () => {
      const found = await desk.inbox(id);
      return found.length === 2 && found.every(({ state }) => state === 'applied') ? found : undefined;
    });
    expect(rows).toMatchObject([
      { outcome: 'completed', decision: 'advance' },
      { outcome: 'processing', decision: 'known' },
    ]);
    expect((await desk.reaches(id, 'completed')).body).toMatchObject({ operations: { attention: null } });
    expect(await desk.cases(id)).toEqual([]);
  });

  it('sent by a stranger first, under another id and with another event header, does not block the order', async () => {
    await desk.refuseReads();
    await desk.simulator.onWebhook('order.completed', { kind: 'lost' });
    const id = await desk.place(PACKAGE.processingThenCompleted);
    const sold = await waitFor('the service has completed the order', async () => {
      const [attempt] = await desk.attempts(id);
      const [order] = attempt === undefined ? [] : await desk.simulator.orders(attempt.reference);
      return order?.status === 'completed' ? order : undefined;
    });
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const data = { id: sold.id, status: 'completed', esim_id: sold.esim_id };
    const body = JSON.stringify({ event: 'order.completed', data });
    const signature = createHmac('sha256', stack.webhookSecret).update(`${timestamp}.${body}`).digest('hex');
    const send = async (event: string) => {
      const headers = {
        'X-Service-Event': event,
        'X-Service-Delivery': randomUUID(),
        'X-Service-Timestamp': timestamp,
        'X-Service-Signature': `v1=${signature}`,
      };
      return (await stack.api.post('/webhooks/service', body, { headers })).at('result');
    };
    expect([await send('order.failed'), await send('order.completed')]).toEqual(['accepted', 'replayed']);
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 1.50']);
    expect(await desk.cases(id)).toEqual([]);
  });
});
