import { describe, expect, it } from 'vitest';
import { DIALECTS, dialectNames } from '#simulator/behaviour/dialect.ts';
import { documentShape } from '#test/simulator/described.ts';
import { fieldsOf, PACKAGE, startReceiver, startTestSimulator } from '#test/simulator/support.ts';
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

  it('conflicts: a repeated key is refused with any body [spec: gap.repeated-key]', async () => {
    await using simulator = await startTestSimulator({ dialect: 'conflicts' });
    await simulator.order(body, 'key');
    const answer = await simulator.order(body, 'key');
    expect([answer.status, answer.at('error', 'code')]).toEqual([409, 'idempotency_key_reused']);
  });

  it('forgets_keys: after its retention a key buys again [spec: gap.key-retention]', async () => {
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

  it('reusable_references: a reference may be bought under many keys [spec: gap.reference-unique]', async () => {
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
});
