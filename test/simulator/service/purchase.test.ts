import { describe, expect, it } from 'vitest';
import { EMAIL, PACKAGE, PASSWORD, startTestSimulator } from '#test/simulator/support.ts';
import { serviceOrder, serviceWallet } from '#upstream/contract.ts';

describe('a purchase', () => {
  it.each([
    [9002, 'processing'],
    [9003, 'failed'],
  ])('package %i fails after it was %s, with its debit credited back', async (package_id, first) => {
    await using simulator = await startTestSimulator();
    const created = (await simulator.order({ package_id })).read(serviceOrder);
    expect(created.status).toBe(first);
    const failed = await simulator.orderReaches(created.id, 'failed');
    expect(failed.failure?.code).toBe('supplier_failed');
    expect((await simulator.ledger()).slice(1)).toMatchObject([
      { type: 'debit', amount: '1.50', reason: 'order', order_id: created.id },
      { type: 'credit', amount: '1.50', reason: 'refund', order_id: created.id },
    ]);
    expect(await simulator.balance()).toBe('100000.00');
  });

  it('package 9005 fails without a credit, package 9004 stays processing, package 9006 is unavailable', async () => {
    await using simulator = await startTestSimulator();
    const uncredited = (await simulator.order({ package_id: 9005 })).read(serviceOrder);
    const staying = (await simulator.order({ package_id: 9004 })).read(serviceOrder);
    await simulator.orderReaches(uncredited.id, 'failed');
    expect((await simulator.ledger()).filter(({ type }) => type === 'credit')).toHaveLength(1);
    await simulator.admin.post('/clock/advance', { ms: 86_400_000 });
    expect((await simulator.sandbox.get(`/orders/${staying.id}`)).at('status')).toBe('processing');
    const refused = await simulator.order({ package_id: 9006 });
    expect([refused.status, refused.at('error', 'code')]).toEqual([422, 'package_unavailable']);
  });

  it('is refused with 402 when the balance does not cover it, and nothing changes', async () => {
    await using simulator = await startTestSimulator({ sandboxBalance: '2.39' });
    const refused = await simulator.order();
    expect([refused.status, refused.at('error', 'code')]).toEqual([402, 'insufficient_balance']);
    expect(await simulator.ledger()).toHaveLength(1);
    await simulator.admin.post('/deposits', { environment: 'sandbox', amount: '0.01' });
    expect((await simulator.order()).status).toBe(201);
    expect(await simulator.balance()).toBe('0.00');
  });
});

describe('the environments', () => {
  it('share no token, no order, no eSIM and no wallet', async () => {
    await using simulator = await startTestSimulator({ approved: true, productionBalance: '10.00' });
    const order = (await simulator.order({ external_order_id: 'same' })).read(serviceOrder);
    expect((await simulator.production.get(`/orders/${order.id}`)).status).toBe(404);
    expect((await simulator.production.get(`/esims/${order.esim_id}`)).status).toBe(404);
    expect((await simulator.production.get('/orders')).at('data')).toEqual([]);
    expect((await simulator.production.get('/wallet')).read(serviceWallet).balance).toBe('10.00');
    const headers = { 'idempotency-key': 'k' };
    const body = { package_id: PACKAGE, external_order_id: 'same' };
    const bought = await simulator.production.post('/orders', body, { headers });
    expect(bought.status).toBe(201);
    expect((await simulator.production.get('/wallet')).at('balance')).toBe('7.60');
    expect(await simulator.balance()).toBe('99997.60');
    const authorization = `Bearer ${simulator.tokens.sandbox}`;
    const crossed = await simulator.production.get('/wallet', { headers: { authorization } });
    expect(crossed.status).toBe(401);
  });
});

describe('tokens', () => {
  it('expire after the requested days in production', async () => {
    await using simulator = await startTestSimulator();
    const body = { email: EMAIL, password: PASSWORD, device_name: 'test', expires_in_days: 2 };
    const token = (await simulator.open.post('/login', body)).textAt('access_token');
    const read = () => simulator.open.get('/wallet', { headers: { authorization: `Bearer ${token}` } });
    expect((await read()).status).toBe(200);
    await simulator.admin.post('/clock/advance', { ms: 2 * 86_400_000 - 60_000 });
    expect((await read()).status).toBe(200);
    await simulator.admin.post('/clock/advance', { ms: 60_000 });
    expect((await read()).status).toBe(401);
    const refused = await simulator.open.post('/sandbox/login', body);
    expect([refused.status, refused.at('error', 'fields')]).toEqual([422, { expires_in_days: 'is not known' }]);
  });
});
