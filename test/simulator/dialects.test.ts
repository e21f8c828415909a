import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { DIALECTS, dialectNames } from '#simulator/behaviour/dialect.ts';
import { documentShape } from '#test/simulator/described.ts';
import { fieldsOf, PACKAGE, startReceiver, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { ENDPOINTS, eventEnvelope, pageOf, walletTransaction, type EndpointContract } from '#upstream/contract.ts';

const body = JSON.stringify({ package_id: PACKAGE, external_order_id: 'r' });

describe('a dialect', () => {
  it.each(dialectNames)('%s can be chosen at the start and by the admin API, with changes', async (name) => {
    await using simulator = await startTestSimulator({ dialect: name });
    expect((await simulator.admin.get('/dialect')).body).toEqual({ name, changed: {}, properties: DIALECTS[name] });
    await simulator.admin.post('/dialect', { name: 'replays' });
    const changed = await simulator.admin.post('/dialect', { name, properties: { key_retention_ms: 77 } });
    expect(changed.at('properties')).toEqual({ ...DIALECTS[name], key_retention_ms: 77 });
  });

  it('conflicts: a repeated key is refused with any body', async () => {
    await using simulator = await startTestSimulator({ dialect: 'conflicts' });
    await simulator.order(body, 'key');
    const answer = await simulator.order(body, 'key');
    expect([answer.status, answer.at('error', 'code')]).toEqual([409, 'idempotency_key_reused']);
  });

  it('forgets_keys: after its retention a key buys again', async () => {
    await using simulator = await startTestSimulator({ dialect: 'forgets_keys' });
    const first = await simulator.order(body, 'key');
    expect((await simulator.order(body, 'key')).text).toBe(first.text);
    await simulator.admin.post('/clock/advance', { ms: 1_000 });
    const again = await simulator.order(body, 'key');
    expect(again.status).toBe(201);
    expect(again.at('id')).not.toBe(first.at('id'));
    expect(await simulator.debits('r')).toHaveLength(2);
    // The key now belongs to the new use.
    expect((await simulator.order(body, 'key')).text).toBe(again.text);
  });

  it('forgets_keys, references unique: the forgotten key meets the reference', async () => {
    await using simulator = await startTestSimulator();
    await simulator.admin.post('/dialect', { properties: { key_retention_ms: 0 } });
    await simulator.order(body, 'key');
    expect((await simulator.order(body, 'key')).at('error', 'code')).toBe('reference_exists');
  });

  it('ignores_keys: every send buys', async () => {
    await using simulator = await startTestSimulator({ dialect: 'ignores_keys' });
    await simulator.order(body, 'key');
    await simulator.order(body, 'key');
    expect(await simulator.debits('r')).toHaveLength(2);
  });

  it('balance_first: a repeated key is refused once its own debit has used up the balance', async () => {
    await using simulator = await startTestSimulator({ dialect: 'balance_first', sandboxBalance: '2.40' });
    expect((await simulator.order(body, 'key')).status).toBe(201);
    expect((await simulator.order(body, 'key')).status).toBe(402);
    await simulator.admin.post('/dialect', { name: 'replays' });
    expect((await simulator.order(body, 'key')).status).toBe(201);
    expect(await simulator.debits('r')).toHaveLength(1);
  });

  it('stores_refusals: a refused key stays refused', async () => {
    await using simulator = await startTestSimulator({ dialect: 'stores_refusals', sandboxBalance: '0.00' });
    const refused = await simulator.order(body, 'key');
    expect(refused.status).toBe(402);
    await simulator.admin.post('/deposits', { environment: 'sandbox', amount: '5.00' });
    const again = await simulator.order(body, 'key');
    expect([again.status, again.text]).toEqual([402, refused.text]);
    expect((await simulator.order(body, 'other')).status).toBe(201);
  });

  it('concurrent_keys: concurrent sends of one key are all executed', async () => {
    await using simulator = await startTestSimulator({ dialect: 'concurrent_keys' });
    const answers = await Promise.all([simulator.order(body, 'key'), simulator.order(body, 'key')]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(await simulator.debits('r')).toHaveLength(2);
    // One after the other, repeated sends are safe.
    expect((await simulator.order(body, 'key')).status).toBe(201);
    expect(await simulator.debits('r')).toHaveLength(2);
  });

  it('reusable_references: a reference may be bought under many keys', async () => {
    await using simulator = await startTestSimulator({ dialect: 'reusable_references' });
    expect((await simulator.order(body, 'key-1')).status).toBe(201);
    expect((await simulator.order(body, 'key-2')).status).toBe(201);
  });

  it('no_order_read has no GET /orders/{id}; no_lookup has no lists either', async () => {
    await using simulator = await startTestSimulator({ dialect: 'no_order_read' });
    const id = (await simulator.order(body, 'key')).textAt('id');
    expect((await simulator.sandbox.get(`/orders/${id}`)).status).toBe(404);
    expect((await simulator.sandbox.get('/orders')).status).toBe(200);
    await simulator.admin.post('/dialect', { name: 'no_lookup' });
    // The address exists for POST.
    expect((await simulator.sandbox.get('/orders')).status).toBe(405);
    expect((await simulator.sandbox.get('/wallet/transactions')).status).toBe(404);
    expect((await simulator.sandbox.get('/wallet')).status).toBe(200);
    for (const path of [
      '/topups',
      '/topups/x',
      '/refunds',
      '/refunds/x',
      '/vpn/subscriptions',
      '/vpn/subscriptions/x',
    ]) {
      expect([404, 405]).toContain((await simulator.sandbox.get(path)).status);
    }
    const document = await simulator.sandbox.get('/openapi.json');
    expect(document.at('paths', '/wallet', 'get')).toBeDefined();
    expect(document.at('paths', '/orders', 'post')).toBeDefined();
    expect(document.at('paths', '/orders', 'get')).toBeUndefined();
    expect(document.at('paths', '/orders/{id}')).toBeUndefined();
    expect(document.at('paths', '/wallet/transactions')).toBeUndefined();
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

  it('late_debits: a debit is spent at once and shown later', async () => {
    await using simulator = await startTestSimulator({ dialect: 'late_debits', sandboxBalance: '2.50' });
    const seen = async () => {
      const page = (await simulator.sandbox.get('/wallet/transactions')).read(pageOf(walletTransaction));
      return [await simulator.balance(), page.data.filter(({ type }) => type === 'debit').length];
    };
    await simulator.order(body, 'key');
    expect(await seen()).toEqual(['2.50', 0]);
    expect((await simulator.order({ package_id: PACKAGE }, 'key-2')).status).toBe(402);
    await simulator.admin.post('/clock/advance', { ms: 5_000 });
    expect(await seen()).toEqual(['0.10', 1]);
  });

  it('same_signature: a retry repeats timestamp and signature; otherwise it has new ones', async () => {
    let passed = 0;
    await using receiver = await startReceiver((response, _webhook, number) => {
      passed += 60_000;
      response.writeHead(number % 2 === 1 ? 500 : 204).end();
    });
    const webhook = { url: receiver.url, secret: 'whsec_test' };
    await using simulator = await startTestSimulator({
      dialect: 'same_signature',
      webhook,
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

  it('silent_bodies: only the header names the event', async () => {
    await using receiver = await startReceiver();
    const webhook = { url: receiver.url, secret: 'whsec_test' };
    await using simulator = await startTestSimulator({ dialect: 'silent_bodies', webhook });
    await simulator.order(body, 'key');
    const [delivery] = await receiver.count(1);
    expect(delivery?.event).toBe('order.completed');
    expect(eventEnvelope.safeParse(JSON.parse(String(delivery?.body))).success).toBe(false);
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

  it('exclusive_filter: `since` omits the movements of its own day', async () => {
    const noon = Date.parse('2026-01-01T12:00:00Z');
    await using simulator = await startTestSimulator({ dialect: 'exclusive_filter', now: () => noon });
    await simulator.order(body, 'key');
    expect(await rowsOf(simulator, 'since=2025-12-31T23:59:59.999Z')).toHaveLength(2);
    expect(await rowsOf(simulator, 'since=2026-01-01T00:00:00.000Z')).toHaveLength(0);
    expect(await rowsOf(simulator)).toHaveLength(2);
  });

  it.each([
    ['clock_ahead', 900_000],
    ['clock_behind', -900_000],
  ] as const)('%s: the times that the service states are wrong, and its signatures are not', async (dialect, error) => {
    await using receiver = await startReceiver();
    const noon = Date.parse('2026-01-01T12:00:00Z');
    const webhook = { url: receiver.url, secret: 'whsec_test' };
    await using simulator = await startTestSimulator({ dialect, webhook, now: () => noon });
    const stated = new Date(noon + error).toISOString();
    expect((await simulator.order(body, 'key')).at('created_at')).toBe(stated);
    expect((await rowsOf(simulator)).map(({ created_at }) => created_at)).toEqual([stated, stated]);
    const [delivery] = await receiver.count(1);
    expect(delivery?.timestamp).toBe(String(noon / 1_000));
    expect(eventEnvelope.parse(JSON.parse(String(delivery?.body))).created_at).toBe(stated);
    expect(await simulator.now()).toBe(noon);
  });

  it('cached_list: the list is made anew once a minute, and the balance is current', async () => {
    const minute = Date.parse('2026-01-01T12:00:00Z');
    await using simulator = await startTestSimulator({
      dialect: 'cached_list',
      sandboxBalance: '5.00',
      now: () => minute + 1_000,
    });
    await simulator.order(body, 'key');
    expect([await simulator.balance(), await rowsOf(simulator)]).toEqual(['2.60', []]);
    await simulator.advance(58_999);
    expect(await rowsOf(simulator)).toHaveLength(0);
    await simulator.advance(1);
    expect(await rowsOf(simulator)).toHaveLength(2);
  });

  it('late_rows: the list shows a movement after five minutes, and the balance at once', async () => {
    await using simulator = await startTestSimulator({ dialect: 'late_rows', sandboxBalance: '5.00', now: () => 0 });
    await simulator.advance(300_000);
    await simulator.order(body, 'key');
    await simulator.advance(299_999);
    expect([await simulator.balance(), (await rowsOf(simulator)).length]).toEqual(['2.60', 1]);
    await simulator.advance(1);
    expect(await rowsOf(simulator)).toHaveLength(2);
  });

  it('newest_rows_only and oldest_rows_only: the list ends after three movements, and says nothing', async () => {
    await using simulator = await startTestSimulator({ sandboxBalance: '100.00' });
    for (const reference of ['a', 'b', 'c', 'd']) await simulator.order({ external_order_id: reference });
    const references = async (query = '') => (await rowsOf(simulator, query)).map((row) => row.external_order_id);
    await simulator.admin.post('/dialect', { name: 'newest_rows_only' });
    expect(await references()).toEqual(['d', 'c', 'b']);
    await simulator.admin.post('/dialect', { name: 'oldest_rows_only' });
    expect(await references()).toEqual(['b', 'a', null]);
    // The limit applies to what a filter leaves.
    expect(await references('external_order_id=d')).toEqual(['d']);
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

  it('others_move: a movement of another system follows each reading of the list', async () => {
    await using simulator = await startTestSimulator({ dialect: 'others_move', sandboxBalance: '0.01' });
    const seen = async () => [await simulator.balance(), (await rowsOf(simulator)).length, await simulator.balance()];
    expect(await seen()).toEqual(['0.01', 1, '0.00']);
    expect(await seen()).toEqual(['0.00', 2, '0.10']);
    await simulator.admin.post('/dialect', { name: 'others_move', properties: { wallet_others_move_ms: 60_000 } });
    expect(await seen()).toEqual(['0.10', 3, '0.10']);
    await simulator.advance(60_000);
    expect(await seen()).toEqual(['0.10', 3, '0.09']);
  });

  it('other_currency: the list has movements in a second currency, which the balance does not contain', async () => {
    await using simulator = await startTestSimulator({ dialect: 'other_currency', sandboxBalance: '5.00' });
    await rowsOf(simulator);
    await simulator.order(body, 'key');
    const rows = await rowsOf(simulator);
    expect(rows.map(({ currency }) => currency)).toEqual(['USD', 'EUR', 'USD']);
    expect(await simulator.balance()).toBe('2.60');
    // The balance of a purchase is checked in its own currency.
    expect((await simulator.order({}, 'key-2')).status).toBe(201);
    expect((await simulator.order({}, 'key-3')).status).toBe(402);
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
