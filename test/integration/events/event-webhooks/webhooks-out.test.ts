import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { postOnce } from '#test/support/api/keys.ts';
import { WebhookReceiver } from '#test/support/network/webhook-receiver.ts';
import { frequentUpkeep, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { PACKAGE } from '#test/support/work/order-desk.ts';
import { webhookEndpointWorkflowId } from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

let stack: Stack;
let operator: TemporalOperator;
let receiver: WebhookReceiver;

beforeAll(async () => {
  stack = await startStack({
    // Long enough to observe the wait.
    environment: { ...RARE_UPKEEP, 'event_webhooks.probe_delay_max': '30s' },
    simulator: { SIMULATOR_PROCESSING_DELAY: '200ms' },
  });
  operator = await TemporalOperator.connect(stack);
});
beforeEach(async () => {
  for (const { id } of await endpoints()) await stack.api.call('DELETE', `/v1/webhook-endpoints/${id}`, {});
  receiver = await WebhookReceiver.start();
  return () => receiver[Symbol.asyncDispose]();
});
afterAll(async () => {
  await operator[Symbol.asyncDispose]();
  await stack.stop();
});

const pageOf = <Row extends z.ZodType>(row: Row) => z.object({ data: z.array(row) });
const endpoints = async () =>
  (await stack.api.get('/v1/webhook-endpoints?limit=100')).read(pageOf(z.object({ id: z.string() }))).data;
async function endpoint(url = receiver.url, eventTypes = ['*']) {
  const made = await postOnce(stack.api, '/v1/webhook-endpoints', { url, event_types: eventTypes });
  return { id: made.textAt('id'), secret: made.textAt('secret') };
}
const placed = async () => (await stack.order({ package_id: PACKAGE.completedAtOnce })).textAt('id');
const delivery = z.object({ event_id: z.string(), status: z.string(), tries: z.number() });
const areDelivered = (id: string) =>
  waitFor(
    `all deliveries to ${id} are delivered`,
    async () => {
      const answer = await stack.api.get(`/v1/webhook-endpoints/${id}/deliveries?limit=100`);
      const { data } = answer.read(pageOf(delivery));
      if (data.length === 0 || data.some(({ status }) => status !== 'delivered')) throw new Error(answer.text);
      return data;
    },
    { timeoutMs: 240_000, everyMs: 100 },
  );
const workflowOf = (id: string) => operator.client.workflow.getHandle(webhookEndpointWorkflowId(id));
const statusOf = async (id: string) => (await workflowOf(id).describe()).status.name;
const typesOf = (secret: string, subject: string) =>
  receiver.received
    .map((each) => WebhookReceiver.verified(each, secret))
    .flatMap((each) => (each.subject.id === subject ? [each.type] : []));

describe('the events of an order', () => {
  it('reach a receiver signed and once each, and the workflow ends when none is pending', async () => {
    const { id, secret } = await endpoint();
    const orderId = await placed();
    await stack.orderReaches(orderId, ['completed']);
    await waitFor('the order event has arrived', () => typesOf(secret, orderId).includes('order.completed'));
    const delivered = await areDelivered(id);
    expect(typesOf(secret, orderId)).toEqual(expect.arrayContaining(['order.accepted', 'order.completed']));
    expect(new Set(delivered.map(({ tries }) => tries))).toEqual(new Set([1]));
    expect(receiver.ids.toSorted()).toEqual(delivered.map(({ event_id: eventId }) => eventId).toSorted());
    await waitFor('its workflow has ended', async () => (await statusOf(id)) === 'COMPLETED');
    expect((await postOnce(stack.api, `/v1/webhook-endpoints/${id}/test`)).status).toBe(202);
    await waitFor('the test arrives', () => typesOf(secret, id).includes('webhook_endpoint.test'));
  });
});

describe('a failing endpoint', () => {
  it('is shown in Temporal with its next try, survives Terminate, and gets its pending events', async () => {
    const { id } = await endpoint(receiver.url, ['order.*']);
    receiver.otherwise = 503;
    for (let n = 0; n < 3; n += 1) await placed();
    const shown = await waitFor('it counts as failing', async () => {
      const { typedSearchAttributes } = await workflowOf(id).describe();
      return typedSearchAttributes.get(SEARCH_ATTRIBUTES.stage) === 'failing' && typedSearchAttributes;
    });
    expect(shown.get(SEARCH_ATTRIBUTES.needsAttention)).toBe(true);
    expect(shown.get(SEARCH_ATTRIBUTES.nextRetryAt)).toBeInstanceOf(Date);
    const now = () => stack.api.get(`/v1/webhook-endpoints/${id}`);
    expect((await now()).body).toMatchObject({ status: 'enabled', last_failure: 'it answered 503' });
    await waitFor('it counts the pending deliveries', async () => {
      const pending = (await now()).at('pending_deliveries');
      return typeof pending === 'number' && pending >= 3;
    });
    await workflowOf(id).terminate('a test pressed the button');
    // The sweeper restarts the terminated workflow.
    await frequentUpkeep(stack);
    receiver.otherwise = 204;
    await areDelivered(id);
    expect((await now()).body).toMatchObject({ pending_deliveries: 0 });
  });
});

describe('receivers that never answer', () => {
  it('delay no order and no other receiver', async () => {
    await using stalled = await WebhookReceiver.start();
    stalled.otherwise = () => undefined;
    const quick = await endpoint(receiver.url, ['order.*']);
    for (let n = 0; n < 15; n += 1) await endpoint(stalled.url, ['order.*']);
    await placed();
    await waitFor('they are all being sent to', () => stalled.received.length >= 15);
    const started = performance.now();
    const orderId = await placed();
    await stack.orderReaches(orderId, ['completed']);
    await waitFor('the other receiver has its events', () =>
      typesOf(quick.secret, orderId).includes('order.completed'),
    );
    // Fifteen in sequence, with a deadline of three seconds each, would take 45 seconds.
    expect(performance.now() - started).toBeLessThan(40_000);
  });
});
