import { expect, it } from 'vitest';
import { EMAIL, PACKAGE, PASSWORD, startTestSimulator } from '#test/simulator/support.ts';
import { serviceOrder } from '#upstream/contract.ts';

it('the environments share no token, no order, no eSIM and no wallet', async () => {
  await using simulator = await startTestSimulator({ productionBalance: '10.00' });
  const { production } = simulator;
  const order = (await simulator.order({ external_order_id: 'same' })).read(serviceOrder);
  expect((await production.get(`/orders/${order.id}`)).status).toBe(404);
  expect((await production.get(`/esims/${order.esim_id}`)).status).toBe(404);
  expect((await production.get('/orders')).at('data')).toEqual([]);
  const buy = () => {
    const body = { package_id: PACKAGE, external_order_id: 'same' };
    return production.post('/orders', body, { headers: { 'idempotency-key': 'k' } });
  };
  expect((await buy()).at('error', 'code')).toBe('not_approved');
  expect((await production.get('/wallet')).at('balance')).toBe('10.00');
  await simulator.admin.post('/approval', { approved: true });
  expect((await buy()).status).toBe(201);
  expect((await production.get('/wallet')).at('balance')).toBe('7.60');
  expect(await simulator.balance()).toBe('99997.60');
  const authorization = `Bearer ${simulator.tokens.sandbox}`;
  expect((await production.get('/wallet', { headers: { authorization } })).status).toBe(401);
});

it('tokens expire after the requested days, in production only', async () => {
  await using simulator = await startTestSimulator();
  const body = { email: EMAIL, password: PASSWORD, device_name: 'test', expires_in_days: 2 };
  const token = (await simulator.open.post('/login', body)).textAt('access_token');
  const read = async () =>
    (await simulator.open.get('/wallet', { headers: { authorization: `Bearer ${token}` } })).status;
  await simulator.advance(2 * 86_400_000 - 60_000);
  expect(await read()).toBe(200);
  await simulator.advance(60_000);
  expect(await read()).toBe(401);
  const refused = await simulator.open.post('/sandbox/login', body);
  expect([refused.status, refused.at('error', 'fields')]).toEqual([422, { expires_in_days: 'is not known' }]);
});
