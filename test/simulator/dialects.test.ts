/** What the tour of the sandbox does not measure; `shapes/sandbox-tour.test.ts` measures each dialect. */
import { describe, expect, it } from 'vitest';
import { codeOf, fieldsOf, startReceiver, startTestSimulator } from '#test/simulator/support.ts';
import { webhookSecret } from '#upstream/contract.ts';

describe('the dialect', () => {
  it('open_reads: the public listing and the document need no token; otherwise they do', async () => {
    await using simulator = await startTestSimulator();
    for (const path of ['/public/packages', '/sandbox/openapi.json']) {
      await simulator.admin.post('/dialect', { name: 'replays' });
      expect((await simulator.open.get(path)).status).toBe(401);
      await simulator.admin.post('/dialect', { name: 'open_reads' });
      expect((await simulator.open.get(path)).status).toBe(200);
      expect((await simulator.open.get('/sandbox/wallet')).status).toBe(401);
    }
  });

  it('refusals_as_errors: a refused cancellation is a 422 with the conditions, and leaves no refund', async () => {
    await using simulator = await startTestSimulator({ dialect: 'refusals_as_errors' });
    const esim = await simulator.esim();
    await simulator.simulate(esim, 'active');
    const refused = await simulator.cancel(esim);
    expect(codeOf(refused)).toEqual([422, 'cancellation_refused']);
    expect(fieldsOf(refused)).toEqual(['usage_is_zero', 'never_installed', 'never_activated']);
    expect((await simulator.sandbox.get('/refunds')).at('data')).toEqual([]);
  });

  it('same_signature: a retry repeats timestamp and signature; otherwise it has new ones', async () => {
    let passed = 0;
    await using receiver = await startReceiver((response, _webhook, number) => {
      passed += 60_000;
      response.writeHead(number % 2 === 1 ? 500 : 204).end();
    });
    await using simulator = await startTestSimulator({
      dialect: 'same_signature',
      webhookUrl: receiver.url,
      webhookSecret: 'whsec_test',
      now: () => Date.now() + passed,
    });
    await simulator.admin.post('/webhooks/ping');
    await receiver.count(2);
    await simulator.admin.post('/dialect', { name: 'replays' });
    await simulator.admin.post('/webhooks/ping');
    const [first, second, third, fourth] = await receiver.count(4);
    expect([second?.timestamp, second?.signature]).toEqual([first?.timestamp, first?.signature]);
    expect(Number(fourth?.timestamp)).toBeGreaterThanOrEqual(Number(third?.timestamp) + 60);
    expect(fourth?.signature).not.toBe(third?.signature);
    expect([fourth?.deliveryId, fourth?.body]).toEqual([third?.deliveryId, third?.body]);
  });

  it('late_rotation: the old webhook secret signs for a while', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ dialect: 'late_rotation', webhookUrl: receiver.url });
    const created = (await simulator.sandbox.post('/webhook-secret')).read(webhookSecret).secret;
    const rotated = (await simulator.sandbox.post('/webhook-secret/rotate')).read(webhookSecret).secret;
    await simulator.admin.post('/webhooks/ping');
    await receiver.count(1);
    await simulator.advance(60_000);
    await simulator.admin.post('/webhooks/ping');
    const [early, late] = await receiver.count(2);
    expect([early?.isSignedWith(created), late?.isSignedWith(rotated)]).toEqual([true, true]);
  });

  it('oldest_first: the list of movements begins with the oldest one', async () => {
    await using simulator = await startTestSimulator({ dialect: 'oldest_first', sandboxBalance: '100.00' });
    for (const reference of ['a', 'b']) await simulator.order({ external_order_id: reference });
    const page = (await simulator.sandbox.get('/wallet/transactions?limit=2')).at('data');
    expect(page).toMatchObject([{ reason: 'deposit' }, { external_order_id: 'a' }]);
  });
});
