import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { startSimulator } from '#simulator/service/server.ts';
import { connect, PACKAGE, startReceiver } from '#test/simulator/support.ts';
import { startProcess } from '#test/support/servers/processes.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const HOUR_MS = 3_600_000;
const dataFile = () => join(temporaryFolder('simulator'), 'data.sqlite');
const start = (environment: Readonly<Record<string, string>>) =>
  startProcess({ name: 'simulator', script: 'simulator/main.ts', environment });

/** Starts the simulator as a separate process again and again, on the same data. Its address is in its only line. */
function processes(environment: Readonly<Record<string, string>> = {}) {
  const settings = { SIMULATOR_PORT: '0', LOG_LEVEL: 'silent', SIMULATOR_DATA: dataFile(), ...environment };
  return async () => {
    const process = await start(settings);
    const url = await waitFor('it listens', () => /^The simulator listens on (\S+) /.exec(process.output())?.[1], {
      context: () => process.tail(),
    });
    const client = await connect(url);
    return { process, client, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() };
  };
}

describe('a killed simulator', () => {
  it('has, after its next start, every answered order with one debit and the same answers', async () => {
    const run = processes();
    await using before = await run();
    const answered = new Map<string, string>();
    let sent = 0;
    const sender = async (): Promise<void> => {
      for (;;) {
        sent += 1;
        const key = `key-${sent}`;
        const answer = await before.client.order({ external_order_id: `ref-${key}` }, key).catch(() => undefined);
        if (answer === undefined) return;
        answered.set(key, answer.text);
      }
    };
    const senders = Promise.all(Array.from({ length: 8 }, sender));
    await waitFor('there is some work', () => answered.size > 200);
    await before.process.kill();
    await senders;

    await using after = await run();
    const debits = (await after.client.ledger()).filter(({ type }) => type === 'debit');
    const references = new Set(debits.map(({ external_order_id }) => external_order_id));
    expect(references.size).toBe(debits.length);
    for (const key of answered.keys()) expect(references).toContain(`ref-${key}`);
    // At most the purchases under way at the kill were made without an answer.
    expect(debits.length - answered.size).toBeLessThanOrEqual(8);
    // No purchase is incomplete: each debit has its order and its eSIM.
    const counts = { orders: { completed: debits.length }, esims: debits.length };
    expect((await after.client.admin.get('/state')).at('environments', 'sandbox')).toMatchObject(counts);
    const body = { package_id: PACKAGE, external_order_id: 'ref-key-1' };
    expect((await after.client.order(body, 'key-1')).text).toBe(answered.get('key-1'));
  });

  it('continues processing orders, and webhooks that were being sent or waited for a retry', async () => {
    let healthy = false;
    await using receiver = await startReceiver((response, { event }) => {
      if (healthy) response.writeHead(204).end();
      else if (event === 'order.processing') response.writeHead(503).end();
      // The ping hangs, so it is under way when the simulator is killed.
    });
    const run = processes({
      SIMULATOR_WEBHOOK_URL: receiver.url,
      SIMULATOR_WEBHOOK_SECRET: 'whsec_test',
      SIMULATOR_WEBHOOK_TIMEOUT: '10m',
      SIMULATOR_WEBHOOK_RETRY_DELAY: '300ms',
      SIMULATOR_PROCESSING_DELAY: '1s',
    });
    await using before = await run();
    await before.client.admin.post('/webhooks/ping');
    const id = (await before.client.order({ package_id: 9001 })).textAt('id');
    await receiver.count(2);
    await before.process.kill();
    healthy = true;

    await using after = await run();
    expect((await after.client.orderReaches(id, 'completed')).esim_id).toBeTruthy();
    const page = z.object({ data: z.array(z.object({ event: z.string() })) });
    const events = await waitFor('all three are accepted', async () => {
      const { data } = (await after.client.admin.get('/deliveries?status=delivered')).read(page);
      return data.length === 3 ? data.map(({ event }) => event) : undefined;
    });
    expect(events).toEqual(['ping', 'order.processing', 'order.completed']);
  });

  it('continues top-ups, refunds, reviews and VPN subscriptions, and each happens once', async () => {
    const run = processes({ SIMULATOR_PROCESSING_DELAY: '1h', SIMULATOR_REVIEW_DELAY: '1h' });
    await using before = await run();
    const { client } = before;
    const esims = [await client.esim(), await client.esim(), await client.esim()] as const;
    const topup = (await client.topUp(esims[0], 9001)).textAt('id');
    await client.simulate(esims[1], 'installed');
    const review = (await client.cancel(esims[1], 'review')).textAt('refund', 'id');
    await client.admin.post('/behaviour', { operation: 'cancellation', outcome: 'accepted', delay_ms: HOUR_MS });
    const refund = (await client.cancel(esims[2], 'refund')).textAt('refund', 'id');
    const subscription = (await client.orderVpn({ vpn_plan_id: 391 })).textAt('id');
    const ending = (await client.orderVpn()).textAt('id');
    const slowEnd = { operation: 'vpn_cancellation', outcome: 'processing_then_cancelled' };
    await client.admin.post('/behaviour', slowEnd);
    await client.sandbox.post(`/vpn/subscriptions/${ending}/cancel`);
    await client.sandbox.post('/webhook-secret');
    await before.process.kill();

    await using after = await run();
    const again = after.client;
    const status = (path: string) => async () => (await again.sandbox.get(path)).at('status');
    expect(await status(`/topups/${topup}`)()).toBe('processing');
    await again.advance(HOUR_MS);
    await expect.poll(status(`/topups/${topup}`)).toBe('completed');
    await expect.poll(status(`/refunds/${review}`)).toBe('completed');
    await expect.poll(status(`/refunds/${refund}`)).toBe('completed');
    await expect.poll(status(`/vpn/subscriptions/${subscription}`)).toBe('active');
    await expect.poll(status(`/vpn/subscriptions/${ending}`)).toBe('cancelled');
    expect((await again.cancel(esims[2], 'refund')).at('refund', 'id')).toBe(refund);
    expect((await again.sandbox.post('/webhook-secret')).status).toBe(409);
    const credits = (await again.ledger()).filter(({ reason }) => reason === 'refund');
    expect(credits.map(({ refund_id }) => String(refund_id)).toSorted()).toEqual([review, refund].toSorted());
  });
});

it('a stopped simulator exits with code 0 and keeps tokens, rules, settings and its clock', async () => {
  const run = processes();
  await using before = await run();
  const { client } = before;
  const changes: readonly [string, object][] = [
    ['/approval', { approved: true }],
    ['/dialect', { name: 'conflicts', properties: { has_order_list: false } }],
    ['/faults', { target: 'request', endpoint: 'createOrder', fault: { kind: 'server_error' }, nth: 5 }],
    ['/behaviour', { outcome: 'stay_processing', count: 3 }],
    ['/clock/advance', { ms: HOUR_MS }],
    ['/fault-profile', { webhook: { late: 0.5 } }],
    ['/rate-limit', { requests: 10_000 }],
    ['/updates', { channel: 'stable', version: '9.9' }],
    ['/packages/1002', { price_for_reseller: '9.99', available: false }],
  ];
  for (const [path, body] of changes) await client.admin.post(path, body);
  await client.order();
  const stateOf = async ({ admin }: typeof client) => {
    const summary = await admin.get('/state');
    const lists = await Promise.all([admin.get('/faults'), admin.get('/behaviour')]);
    const kept = ['dialect', 'approved', 'clock_ahead_ms', 'fault_profile', 'rate_limit', 'updates'];
    return [...kept.map((name) => summary.at(name)), ...lists.map(({ body }) => body)];
  };
  const kept = await stateOf(client);
  before.process.signal('SIGTERM');
  expect(await before.process.exit()).toEqual({ code: 0, signal: null });

  await using after = await run();
  expect(await stateOf(after.client)).toEqual(kept);
  const headers = { authorization: `Bearer ${client.tokens.sandbox}` };
  expect((await after.client.open.get('/sandbox/wallet', { headers })).status).toBe(200);
  const changed = (await after.client.sandbox.get('/packages?limit=2')).at('data', 1);
  expect(changed).toMatchObject({ available: false, price_for_reseller: '9.99' });
  expect((await after.client.order()).at('status')).toBe('processing');
});

describe('a simulator that cannot start gives the reason', () => {
  it('another simulator uses its data file', async () => {
    const options = { dataFile: dataFile() };
    const running = await startSimulator(options);
    const advice: unknown = expect.stringContaining('Another simulator uses it');
    await expect(startSimulator(options)).rejects.toMatchObject({ advice });
    await running.close();
    await (await startSimulator(options)).close();
  });

  it('its port is in use', async () => {
    const running = await startSimulator();
    await using process = await start({ SIMULATOR_PORT: String(running.port), SIMULATOR_DATA: ':memory:' });
    expect((await process.exit()).code).toBe(1);
    expect(process.output()).toContain(`Another process listens on 127.0.0.1:${running.port}`);
    await running.close();
  });

  it('its configuration is wrong: code 78, no secret printed', async () => {
    await using process = await start({ SIMULATOR_PORT: '99999', SIMULATOR_WEBHOOK_SECRET: 'short' });
    expect((await process.exit()).code).toBe(78);
    for (const name of ['PORT', 'WEBHOOK_SECRET']) expect(process.output()).toContain(`SIMULATOR_${name}`);
    expect(process.output()).not.toContain('short');
  });
});
