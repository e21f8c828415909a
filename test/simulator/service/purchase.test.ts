import { describe, expect, it } from 'vitest';
import { codeOf, LOGIN, PACKAGE, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { esimCancellation, serviceOrder } from '#upstream/contract.ts';

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
  const body = { ...LOGIN, expires_in_days: 2 };
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

describe('a top-up', () => {
  it('is refused during another one of its eSIM, and during its cancellation', async () => {
    await using simulator = await startTestSimulator();
    const esim = await simulator.esim();
    const first = (await simulator.topUp(esim, 9004)).textAt('id');
    for (const refused of [await simulator.topUp(esim), await simulator.cancel(esim)])
      expect(codeOf(refused)).toEqual([409, 'esim_busy']);
    expect((await simulator.topUp(await simulator.esim())).status).toBe(201);
    await simulator.admin.post(`/topups/${first}/fail`);
    expect((await simulator.topUp(esim)).status).toBe(201);

    const other = await simulator.esim();
    await simulator.admin.post('/behaviour', { operation: 'cancellation', outcome: 'manual_review', count: 1 });
    await simulator.cancel(other);
    expect((await simulator.topUp(other)).at('error', 'code')).toBe('esim_busy');
  });
});

type Prepare = (simulator: SimulatorClient, esim: string) => Promise<unknown>;
const lateDebits: Prepare = (client) => client.admin.post('/dialect', { name: 'late_debits' });
const used = ['usage_is_zero', 'never_installed', 'never_activated'];

it.each<[string, Prepare, status: string, review: string, unmet: readonly string[]]>([
  ['installed', (client, esim) => client.simulate(esim, 'installed'), 'processing', 'manual_review', [used[1] ?? '']],
  ['active', (client, esim) => client.simulate(esim, 'active'), 'refused', 'refused', used],
  ['recharged', (client, esim) => client.topUp(esim), 'refused', 'refused', ['no_completed_topup']],
  ['recharged without success', (client, esim) => client.topUp(esim, 9003), 'cancelled', 'accepted', []],
  ['not yet debited', lateDebits, 'processing', 'manual_review', ['debit_verified']],
])('the five conditions decide the cancellation of an eSIM that is %s', async (_state, prepare, ...expected) => {
  await using simulator = await startTestSimulator();
  const esim = await simulator.esim();
  await prepare(simulator, esim);
  const before = await simulator.balance();
  const { status, refund } = (await simulator.cancel(esim)).read(esimCancellation);
  expect([status, refund?.review, refund?.unmet_conditions]).toEqual(expected);
  expect((await simulator.balance()) !== before).toBe(status === 'cancelled');
});
