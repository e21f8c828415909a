import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { startSimulator } from '#simulator/service/server.ts';
import { connect, PACKAGE, startReceiver } from '#test/simulator/support.ts';
import { startProcess, type TestProcess } from '#test/support/servers/processes.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { serviceOrder } from '#upstream/contract.ts';

/** The simulator as a separate process; its address is in the one line that it prints. */
async function run(environment: Readonly<Record<string, string>>): Promise<{ process: TestProcess; url: string }> {
  const process = await startProcess({
    name: 'simulator',
    script: 'simulator/main.ts',
    environment: { SIMULATOR_PORT: '0', LOG_LEVEL: 'silent', ...environment },
  });
  const url = await waitFor('it listens', () => /^The simulator listens on (\S+) /.exec(process.output())?.[1], {
    context: () => process.tail(),
  });
  return { process, url };
}

describe('a killed simulator', () => {
  it('has, after its next start, every answered order with one debit and the same answers', async () => {
    const environment = { SIMULATOR_DATA: join(temporaryFolder('simulator'), 'data.sqlite') };
    const first = await run(environment);
    await using before = first.process;
    const client = await connect(first.url);
    const answered = new Map<string, string>();
    let sent = 0;
    const sender = async (): Promise<void> => {
      for (;;) {
        sent += 1;
        const key = `key-${sent}`;
        const answer = await client.order({ external_order_id: `ref-${key}` }, key).catch(() => undefined);
        if (answer === undefined) return;
        answered.set(key, answer.text);
      }
    };
    const senders = Promise.all(Array.from({ length: 8 }, sender));
    await waitFor('there is some work', () => answered.size > 200);
    await before.kill();
    await senders;

    const second = await run(environment);
    await using after = second.process;
    const again = await connect(second.url);
    expect(after.running).toBe(true);
    const debits = (await again.ledger()).filter(({ type }) => type === 'debit');
    expect(new Set(debits.map(({ external_order_id }) => external_order_id)).size).toBe(debits.length);
    const references = new Set(debits.map(({ external_order_id }) => external_order_id));
    for (const key of answered.keys()) expect(references).toContain(`ref-${key}`);
    // At most the purchases under way at the kill were made without an answer.
    expect(debits.length - answered.size).toBeLessThanOrEqual(8);
    // No purchase is incomplete: each debit has its order and its eSIM.
    const state = await again.admin.get('/state');
    const counts = { orders: { completed: debits.length }, esims: debits.length };
    expect(state.at('environments', 'sandbox')).toMatchObject(counts);
    const body = { package_id: PACKAGE, external_order_id: 'ref-key-1' };
    expect((await again.order(body, 'key-1')).text).toBe(answered.get('key-1'));
  });

  it('continues processing orders, and webhooks that were being sent or waited for a retry', async () => {
    let healthy = false;
    await using receiver = await startReceiver((response, { event }) => {
      if (healthy) response.writeHead(204).end();
      else if (event === 'order.processing') response.writeHead(503).end();
      // The ping hangs, so it is under way when the simulator is killed.
    });
    const environment = {
      SIMULATOR_DATA: join(temporaryFolder('simulator'), 'data.sqlite'),
      SIMULATOR_WEBHOOK_URL: receiver.url,
      SIMULATOR_WEBHOOK_SECRET: 'whsec_test',
      SIMULATOR_WEBHOOK_TIMEOUT: '10m',
      SIMULATOR_WEBHOOK_RETRY_DELAY: '300ms',
      SIMULATOR_PROCESSING_DELAY: '1s',
    };
    const first = await run(environment);
    await using before = first.process;
    const client = await connect(first.url);
    await client.admin.post('/webhooks/ping');
    const id = (await client.order({ package_id: 9001 })).textAt('id');
    await receiver.count(2);
    await before.kill();
    healthy = true;

    const second = await run(environment);
    await using after = second.process;
    const again = await connect(second.url);
    expect(after.running).toBe(true);
    expect((await again.orderReaches(id, 'completed')).esim_id).toBeTruthy();
    const events = await waitFor('all three are accepted', async () => {
      const page = (await again.admin.get('/deliveries?status=delivered')).read(deliveryPage);
      return page.data.length === 3 ? page.data.map(({ event }) => event) : undefined;
    });
    expect(events).toEqual(['ping', 'order.processing', 'order.completed']);
  });
});

describe('a simulator killed between two steps', () => {
  it('continues top-ups, refunds, reviews and VPN subscriptions, and each happens once', async () => {
    const environment = {
      SIMULATOR_DATA: join(temporaryFolder('simulator'), 'data.sqlite'),
      SIMULATOR_PROCESSING_DELAY: '1h',
      SIMULATOR_REVIEW_DELAY: '1h',
    };
    const first = await run(environment);
    await using before = first.process;
    const client = await connect(first.url);
    const esims = [await client.esim(), await client.esim(), await client.esim()] as const;
    const topup = (await client.topUp(esims[0], 9001)).textAt('id');
    await client.simulate(esims[1], 'installed');
    const review = (await client.cancel(esims[1], 'review')).textAt('refund', 'id');
    await client.admin.post('/behaviour', { operation: 'cancellation', outcome: 'accepted', delay_ms: 3_600_000 });
    const refund = (await client.cancel(esims[2], 'refund')).textAt('refund', 'id');
    const subscription = (await client.orderVpn({ vpn_plan_id: 391 })).textAt('id');
    const ending = (await client.orderVpn()).textAt('id');
    const cancellation = { operation: 'vpn_cancellation', outcome: 'processing_then_cancelled' };
    await client.admin.post('/behaviour', cancellation);
    await client.sandbox.post(`/vpn/subscriptions/${ending}/cancel`);
    await client.sandbox.post('/webhook-secret');
    await before.kill();

    const second = await run(environment);
    await using after = second.process;
    const again = await connect(second.url);
    expect(after.running).toBe(true);
    const status = (path: string) => async () => (await again.sandbox.get(path)).at('status');
    expect(await status(`/topups/${topup}`)()).toBe('processing');
    await again.advance(3_600_000);
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

describe('a stopped simulator', () => {
  it('exits with code 0 and keeps tokens, rules, settings and its clock', async () => {
    const environment = { SIMULATOR_DATA: join(temporaryFolder('simulator'), 'data.sqlite') };
    const first = await run(environment);
    await using before = first.process;
    const client = await connect(first.url);
    await client.admin.post('/approval', { approved: true });
    await client.admin.post('/dialect', { name: 'conflicts', properties: { has_order_list: false } });
    const fault = { target: 'request', endpoint: 'createOrder', fault: { kind: 'server_error' }, nth: 5 };
    await client.admin.post('/faults', fault);
    await client.admin.post('/behaviour', { outcome: 'stay_processing', count: 3 });
    await client.admin.post('/clock/advance', { ms: 3_600_000 });
    await client.admin.post('/fault-profile', { webhook: { late: 0.5 } });
    await client.admin.post('/rate-limit', { requests: 10_000 });
    await client.admin.post('/updates', { channel: 'stable', version: '9.9' });
    await client.admin.post('/packages/1002', { price_for_reseller: '9.99', available: false });
    await client.order();
    const state = async (admin: typeof client.admin) => {
      const summary = await admin.get('/state');
      const lists = await Promise.all([admin.get('/faults'), admin.get('/behaviour')]);
      const kept = ['dialect', 'approved', 'clock_ahead_ms', 'fault_profile', 'rate_limit', 'updates'];
      return [...kept.map((name) => summary.at(name)), ...lists.map(({ body }) => body)];
    };
    const kept = await state(client.admin);
    before.signal('SIGTERM');
    expect(await before.exit()).toEqual({ code: 0, signal: null });

    const second = await run(environment);
    await using after = second.process;
    const again = await connect(second.url);
    expect(after.running).toBe(true);
    expect(await state(again.admin)).toEqual(kept);
    const authorization = `Bearer ${client.tokens.sandbox}`;
    expect((await again.open.get('/sandbox/wallet', { headers: { authorization } })).status).toBe(200);
    const changed = (await again.sandbox.get('/packages?limit=2')).at('data', 1);
    expect(changed).toMatchObject({ available: false, price_for_reseller: '9.99' });
    expect((await again.order()).read(serviceOrder).status).toBe('processing');
  });
});

describe('a simulator that cannot start gives the reason', () => {
  it('another simulator uses its data file', async () => {
    const dataFile = join(temporaryFolder('simulator'), 'data.sqlite');
    const running = await startSimulator({ dataFile });
    await expect(startSimulator({ dataFile })).rejects.toMatchObject({
      advice: expect.stringContaining('Another simulator uses it'),
    });
    await running.close();
    await (await startSimulator({ dataFile })).close();
  });

  it('its port is in use', async () => {
    const running = await startSimulator();
    await using process = await startProcess({
      name: 'simulator',
      script: 'simulator/main.ts',
      environment: { SIMULATOR_PORT: String(running.port), SIMULATOR_DATA: ':memory:' },
    });
    expect((await process.exit()).code).toBe(1);
    expect(process.output()).toContain(`Another process listens on 127.0.0.1:${running.port}`);
    await running.close();
  });

  it('its configuration is wrong: every problem at once, code 78, no secret printed', async () => {
    await using process = await startProcess({
      name: 'simulator',
      script: 'simulator/main.ts',
      environment: {
        SIMULATOR_PORT: '99999',
        SIMULATOR_DIALECT: 'latin',
        SIMULATOR_WEBHOOK_SECRET: 'short',
        SIMULATOR_PROCESSING_DELAY: '2 seconds',
        SIMULATOR_SANDBOX_BALANCE: '-1',
        SIMULATOR_EMAIL: 'nobody',
      },
    });
    expect((await process.exit()).code).toBe(78);
    const output = process.output();
    for (const name of ['PORT', 'DIALECT', 'WEBHOOK_SECRET', 'PROCESSING_DELAY', 'SANDBOX_BALANCE', 'EMAIL']) {
      expect(output).toContain(`SIMULATOR_${name}`);
    }
    expect(output).not.toContain('short');
  });
});

const deliveryPage = z.object({ data: z.array(z.object({ event: z.string(), status: z.string() })) });
