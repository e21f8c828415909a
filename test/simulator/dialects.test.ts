import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { DIALECTS, dialectNames } from '#simulator/behaviour/dialect.ts';
import { documentShape } from '#test/simulator/described.ts';
import { fieldsOf, PACKAGE, startReceiver, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { ENDPOINTS, pageOf, walletTransaction, type EndpointContract } from '#upstream/contract.ts';

const body = JSON.stringify({ package_id: PACKAGE, external_order_id: 'r' });

describe('a dialect', () => {
  it.each(dialectNames)('%s can be chosen at the start and by the admin API, with changes', async (name) => {
    await using simulator = await startTestSimulator({ dialect: name });
    expect((await simulator.admin.get('/dialect')).body).toEqual({ name, changed: {}, properties: DIALECTS[name] });
    await simulator.admin.post('/dialect', { name: 'replays' });
    const changed = await simulator.admin.post('/dialect', { name, properties: { key_retention_ms: 77 } });
    expect(changed.at('properties')).toEqual({ ...DIALECTS[name], key_retention_ms: 77 });
  });

  it('bare: has only the calls without a capability, and those that buy and cancel', async () => {
    await using simulator = await startTestSimulator({ dialect: 'bare' });
    const document = (await simulator.admin.get('/openapi.json')).read(documentShape);
    const names = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    const endpoints: Readonly<Record<string, EndpointContract>> = ENDPOINTS;
    const expected = Object.keys(endpoints).filter((name) => endpoints[name]?.capability === undefined);
    expect(names.toSorted()).toEqual(expected.toSorted());
    const esim = (await simulator.order()).textAt('esim_id');
    for (const path of [`/esims/${esim}/usage`, '/refunds', '/public/packages', '/openapi.json']) {
      expect((await simulator.sandbox.get(path)).status).toBe(404);
    }
    expect((await simulator.sandbox.post(`/esims/${esim}/simulate`, { state: 'active' })).status).toBe(404);
    expect((await simulator.sandbox.post('/webhook-secret')).status).toBe(404);
    expect((await simulator.sandbox.get(`/esims/${esim}/topup-options`)).status).toBe(200);
  });

  it('open_reads: the public listing and the document need no token; otherwise they do', async () => {
    await using simulator = await startTestSimulator();
    for (const path of ['/public/packages', '/openapi.json']) {
      for (const base of ['', '/sandbox']) {
        await simulator.admin.post('/dialect', { name: 'replays' });
        expect((await simulator.open.get(base + path)).status).toBe(401);
        await simulator.admin.post('/dialect', { name: 'open_reads' });
        expect((await simulator.open.get(base + path)).status).toBe(200);
        expect((await simulator.open.get(`${base}/wallet`)).status).toBe(401);
      }
    }
  });

  it('refusals_as_errors: a refused cancellation is a 422 with the conditions, and leaves no refund', async () => {
    await using simulator = await startTestSimulator({ dialect: 'refusals_as_errors' });
    const esim = (await simulator.order()).textAt('esim_id');
    await simulator.sandbox.post(`/esims/${esim}/simulate`, { state: 'active' });
    const refused = await simulator.cancel(esim);
    expect([refused.status, refused.at('error', 'code')]).toEqual([422, 'cancellation_refused']);
    expect(fieldsOf(refused)).toEqual(['usage_is_zero', 'never_installed', 'never_activated']);
    expect((await simulator.sandbox.get('/refunds')).at('data')).toEqual([]);
    const untouched = (await simulator.order()).textAt('esim_id');
    await simulator.admin.post('/behaviour', { operation: 'cancellation', outcome: 'refused', count: 1 });
    expect((await simulator.cancel(untouched, 'key')).status).toBe(422);
    // A refusal is not stored, and the rule is used up.
    expect((await simulator.cancel(untouched, 'key')).at('status')).toBe('cancelled');
  });

  it('same_signature: a retry repeats timestamp and signature; otherwise it has new ones', async () => {
    let passed = 0;
    await using receiver = await startReceiver((response, _webhook, number) => {
      passed += 60_000;
      response.writeHead(number % 2 === 1 ? 500 : 204).end();
    });
    const webhook = { webhookUrl: receiver.url, webhookSecret: 'whsec_test' };
    await using simulator = await startTestSimulator({
      dialect: 'same_signature',
      ...webhook,
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

  it.each([
    ['filter_ahead', 14],
    ['filter_behind', -12],
  ] as const)('%s: `since` is read %i hours later than it was sent, and references are not', async (dialect, hours) => {
    await using simulator = await startTestSimulator({ dialect, sandboxBalance: '0.00' });
    await simulator.admin.post('/deposits', { environment: 'sandbox', amount: '5.00' });
    await simulator.order(body, 'key');
    const boughtAt = await simulator.now();
    const since = (ms: number) => `since=${new Date(boughtAt + ms).toISOString()}`;
    expect(await rowsOf(simulator, since(-hours * 3_600_000 - 60_000))).toHaveLength(2);
    expect(await rowsOf(simulator, since(-hours * 3_600_000 + 60_000))).toHaveLength(0);
    expect(await rowsOf(simulator, 'external_order_id=r')).toHaveLength(1);
    expect(await rowsOf(simulator)).toHaveLength(2);
  });

  it('oldest_first: the list begins with the oldest movement, on all pages', async () => {
    await using simulator = await startTestSimulator({ dialect: 'oldest_first', sandboxBalance: '100.00' });
    for (const reference of ['a', 'b', 'c', 'd']) await simulator.order({ external_order_id: reference });
    const rows = await rowsOf(simulator, 'limit=2');
    expect(rows.map((row) => row.external_order_id)).toEqual([null, 'a', 'b', 'c', 'd']);
    for (const shape of ['pages', 'offset_limit', 'has_more'] as const) {
      await simulator.admin.post('/shape', { name: shape });
      const page = (await simulator.open.call('GET', '/sandbox/wallet/transactions', authorized(simulator))).body;
      expect(page).toMatchObject({ data: [{ reason: 'deposit' }, {}, {}, {}, {}] });
    }
  });
});

/** All pages of the movements. */
async function rowsOf(simulator: SimulatorClient, query = ''): Promise<z.output<typeof walletTransaction>[]> {
  const read = async (further: string) =>
    (await simulator.sandbox.get(`/wallet/transactions?${query}${further}`)).read(pageOf(walletTransaction));
  const rows: z.output<typeof walletTransaction>[] = [];
  for (let page = await read(''); ; page = await read(`&cursor=${page.next_cursor}`)) {
    rows.push(...page.data);
    if (page.next_cursor == null) return rows;
  }
}

const authorized = ({ tokens }: SimulatorClient) => ({ headers: { authorization: `Bearer ${tokens.sandbox}` } });
