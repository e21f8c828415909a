import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { SimulatorOptions } from '#simulator/options.ts';
import { startReceiver, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { waitFor } from '#test/support/wait-for.ts';

const SECRET = 'whsec_test';

async function start(receiver: { readonly url: string }, options: SimulatorOptions = {}) {
  return startTestSimulator({ webhookUrl: receiver.url, webhookSecret: SECRET, ...options });
}

async function deliveries(simulator: SimulatorClient, filter = '') {
  const page = await simulator.admin.get(`/deliveries?${filter}`);
  const delivery = z.object({
    id: z.string(),
    status: z.string(),
    attempts: z.array(z.object({ status: z.number().nullable(), error: z.string().nullable(), sent_at: z.string() })),
  });
  return page.read(z.object({ data: z.array(delivery) })).data;
}

describe('a webhook', () => {
  it('is retried until it is accepted', async () => {
    await using receiver = await startReceiver((response, _webhook, number) => {
      response.writeHead(number < 4 ? ([500, 301, 404][number - 1] ?? 500) : 202, { location: '/elsewhere' }).end();
    });
    await using simulator = await start(receiver, { webhookRetryDelayMs: 40 });
    await simulator.admin.post('/webhooks/ping');
    const received = await receiver.count(4);
    expect(new Set(received.map(({ deliveryId }) => deliveryId)).size).toBe(1);
    expect(new Set(received.map(({ body }) => body.toString())).size).toBe(1);
    expect(received.every((webhook) => webhook.isSignedWith(SECRET))).toBe(true);
    const delivery = await waitFor('it is delivered', async () => (await deliveries(simulator, 'status=delivered'))[0]);
    expect(delivery.attempts.map(({ status }) => status)).toEqual([500, 301, 404, 202]);
    const times = delivery.attempts.map(({ sent_at }) => Date.parse(sent_at));
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    // Each wait is at least the planned one; the machine may make it longer.
    expect(waits.map((wait, index) => wait >= 40 * 2 ** index - 2)).toEqual([true, true, true]);
  });

  it('is not sent again after its last attempt, and can be replayed', async () => {
    let healthy = false;
    await using receiver = await startReceiver((response) => response.writeHead(healthy ? 204 : 503).end());
    await using simulator = await start(receiver, { webhookAttempts: 3, webhookRetryDelayMs: 1 });
    await simulator.admin.post('/webhooks/ping');
    const given = await waitFor('it is given up', async () => (await deliveries(simulator, 'status=exhausted'))[0]);
    expect(given.attempts).toHaveLength(3);
    healthy = true;
    expect((await simulator.admin.post(`/deliveries/${given.id}/replay`)).status).toBe(202);
    const received = await receiver.count(4);
    expect(received[3]?.deliveryId).toBe(received[0]?.deliveryId);
    expect(received[3]?.body).toEqual(received[0]?.body);
    await waitFor('it is delivered', async () => (await deliveries(simulator))[0]?.status === 'delivered');
  });

  it('without an answer fails after the timeout', async () => {
    await using receiver = await startReceiver((response, _webhook, number) => {
      if (number > 1) response.writeHead(200).end();
    });
    // Longer than an answer takes on a busy machine.
    await using simulator = await start(receiver, { webhookTimeoutMs: 500 });
    await simulator.admin.post('/webhooks/ping');
    await expect
      .poll(async () => (await deliveries(simulator, 'status=delivered'))[0]?.attempts[0])
      .toMatchObject({ status: null, error: 'timeout' });
  });

  it('goes to the target of the admin API, signed with its secret, for one environment or both', async () => {
    await using first = await startReceiver();
    await using second = await startReceiver();
    await using simulator = await start(first);
    const target = { environment: 'production', url: second.url, secret: 'another-secret' };
    await simulator.admin.post('/webhooks/target', target);
    await simulator.admin.post('/webhooks/ping', { environment: 'production' });
    await simulator.admin.post('/webhooks/ping', { environment: 'sandbox' });
    const [toFirst] = await first.count(1);
    const [toSecond] = await second.count(1);
    expect([toFirst?.isSignedWith(SECRET), toSecond?.isSignedWith('another-secret')]).toEqual([true, true]);

    await simulator.admin.post('/webhooks/target', { url: null });
    expect((await simulator.admin.post('/webhooks/ping')).at('status')).toBe('no_target');
    expect((await simulator.admin.get('/state')).text).not.toContain(SECRET);
  });
});

describe('a webhook fault', () => {
  it.each([
    ['lost', {}, ['order.completed']],
    ['twice', {}, ['order.processing', 'order.processing', 'order.completed']],
    ['out_of_order', { ms: 600_000 }, ['order.completed', 'order.processing']],
    ['forged', {}, ['order.processing, forged', 'order.completed']],
  ])('%s changes how the event of a processing order arrives', async (kind, more, expected) => {
    await using receiver = await startReceiver();
    await using simulator = await start(receiver, { processingDelayMs: 300 });
    const rule = { target: 'webhook', event: 'order.processing', fault: { kind, ...more } };
    expect((await simulator.admin.post('/faults', rule)).status).toBe(201);
    await simulator.order({ package_id: 9001 });
    const received = await receiver.count(expected.length);
    expect(received.map((each) => `${each.event}${each.isSignedWith(SECRET) ? '' : ', forged'}`)).toEqual(expected);
    expect(new Set(received.map(({ deliveryId }) => deliveryId)).size).toBe(new Set(expected).size);
  });
});
