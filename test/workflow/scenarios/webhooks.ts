import { postOnce } from '#test/support/api/keys.ts';
import { WebhookReceiver } from '#test/support/network/webhook-receiver.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { withWorker, type Scenario } from '#test/workflow/scenarios/scenario.ts';

export const WEBHOOKS: Readonly<Record<string, Scenario>> = {
  'webhook-failing-then-delivered': async ({ stack }) => {
    await using receiver = await WebhookReceiver.start();
    receiver.answers.push(...Array.from({ length: 7 }, () => 503));
    const id = await endpoint(stack, receiver);
    await waitFor('it is delivered', async () => receiver.received.length === 8, { timeoutMs: 240_000 });
    return id;
  },

  // Enough time for another delivery before the retry of the failed one.
  'webhook-failed-beside-another': withWorker({ 'event_webhooks.retry_delay': '3s' }, async ({ stack }) => {
    await using receiver = await WebhookReceiver.start();
    receiver.answers.push(503);
    const id = await endpoint(stack, receiver);
    await waitFor('the first has failed', async () => receiver.received.length === 1);
    await sendTest(stack, id);
    await waitFor('both are delivered', async () => receiver.received.length === 3);
    return id;
  }),

  // The waits between tries of a single delivery would grow.
  'webhook-continues-as-new': withWorker(
    { 'event_webhooks.retry_delay_max': '300ms', 'event_webhooks.probe_delay_max': '300ms' },
    async ({ stack }, temporal) => {
      await using receiver = await WebhookReceiver.start();
      receiver.otherwise = 503;
      const id = await endpoint(stack, receiver);
      const { workflowId, runId } = await waitFor('it is tried', () => temporal.of(id).describe());
      await waitFor('it continues in a new run', async () => (await temporal.of(id).describe()).runId !== runId, {
        timeoutMs: 240_000,
      });
      receiver.otherwise = 204;
      const tries = receiver.received.length;
      await waitFor('it is delivered', async () => receiver.received.length > tries);
      return { workflowId, runId };
    },
  ),
};

async function endpoint(stack: Stack, { url }: WebhookReceiver): Promise<string> {
  // Only test events, so that other work sends nothing to it.
  const body = { url, event_types: ['webhook_endpoint.test'] };
  const id = (await postOnce(stack.api, '/v1/webhook-endpoints', body)).textAt('id');
  await sendTest(stack, id);
  return id;
}

async function sendTest({ api }: Stack, id: string): Promise<void> {
  await postOnce(api, `/v1/webhook-endpoints/${id}/test`);
}
