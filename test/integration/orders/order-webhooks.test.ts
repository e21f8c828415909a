import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkedDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const stack = disposedAtEnd(
  await startStack({
    environment: RARE_UPKEEP,
    simulator: { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' },
  }),
);
const desk = checkedDesk(stack);

/** The statuses that our endpoint answered to each request of the order.completed webhook. */
async function answersToCompletion(orderId: string): Promise<(number | null)[]> {
  const [sold] = await desk.simulator.orders((await desk.attempts(orderId))[0]!.reference);
  const completion = (await desk.simulator.webhooks(sold!.id)).find(({ event }) => event === 'order.completed');
  return completion!.attempts.map(({ status }) => status);
}

describe('a webhook delivery', () => {
  it('that arrives twice has one effect', async () => {
    await desk.refuseReads();
    await desk.simulator.onWebhook('order.completed', { kind: 'twice' });
    const order = await desk.complete(PACKAGE.processingThenCompleted);
    const id = order.textAt('id');
    expect(await answersToCompletion(id)).toEqual([200, 200]);
    expect((await desk.inbox(id)).filter(({ outcome }) => outcome === 'completed')).toHaveLength(1);
    expect((await desk.events(id)).filter((event) => event === 'order.completed')).toHaveLength(1);
  });

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

  it.each([
    ['with a forged signature', { kind: 'forged' }],
    ['with a stale timestamp', { kind: 'stale_timestamp', seconds: 301 }],
  ] as const)('%s is refused with 401, and the genuine one that follows is applied', async (_how, fault) => {
    await desk.refuseReads();
    await desk.simulator.onWebhook('order.completed', fault);
    const order = await desk.complete(PACKAGE.processingThenCompleted);
    const id = order.textAt('id');
    expect(await answersToCompletion(id)).toEqual([401, 200]);
    expect((await desk.inbox(id)).filter(({ outcome }) => outcome === 'completed')).toHaveLength(1);
  });

  it('with another event header is interpreted by its signed body', async () => {
    await desk.refuseReads();
    await desk.simulator.onWebhook('order.completed', { kind: 'changed_event_header', event: 'order.failed' });
    const order = await desk.complete(PACKAGE.processingThenCompleted);
    const id = order.textAt('id');
    expect(await answersToCompletion(id)).toEqual([200]);
    const completed = (await desk.inbox(id)).filter(({ outcome }) => outcome === 'completed');
    expect(completed).toMatchObject([{ source: 'webhook', headerEvent: 'order.failed', decision: 'advance' }]);
    expect(await desk.attempts(id)).toHaveLength(1);
  });

  it.each([
    ['under another id', (genuine: string) => `${genuine}-again`, 'replayed'],
    ['under its own id', (genuine: string) => genuine, 'duplicate'],
  ])(
    'sent by a stranger first, %s and with another event header, does not block the order',
    async (_how, idOf, result) => {
      await desk.refuseReads();
      await desk.simulator.onWebhook('order.completed', { kind: 'lost' });
      const id = await desk.place(PACKAGE.processingThenCompleted);
      const sold = await waitFor('the service has completed the order', async () => {
        const [attempt] = await desk.attempts(id);
        const [order] = attempt === undefined ? [] : await desk.simulator.orders(attempt.reference);
        return order?.status === 'completed' ? order : undefined;
      });
      const genuine = randomUUID();
      const timestamp = String(Math.floor(Date.now() / 1_000));
      const data = { id: sold.id, status: 'completed', esim_id: sold.esim_id };
      const body = JSON.stringify({ event: 'order.completed', data });
      const signature = createHmac('sha256', stack.webhookSecret).update(`${timestamp}.${body}`).digest('hex');
      const send = async (deliveryId: string, event: string) => {
        const headers = {
          'X-Service-Event': event,
          'X-Service-Delivery': deliveryId,
          'X-Service-Timestamp': timestamp,
          'X-Service-Signature': `v1=${signature}`,
        };
        return (await stack.api.post('/webhooks/service', body, { headers })).at('result');
      };
      const answers = [await send(idOf(genuine), 'order.failed'), await send(genuine, 'order.completed')];
      await desk.reaches(id, 'completed');
      expect(answers).toEqual(['accepted', result]);
      expect(await desk.movements(id)).toEqual(['debit 1.50']);
      expect(await desk.cases(id)).toEqual([]);
    },
  );
});
