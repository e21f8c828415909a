import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fieldsOf, LOGIN, PACKAGE, startTestSimulator } from '#test/simulator/support.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';

const shared = disposedAtEnd(await startTestSimulator());

it('a behaviour rule counts purchases, not refusals or replays', async () => {
  await using simulator = await startTestSimulator();
  await simulator.admin.post('/behaviour', { outcome: 'stay_processing', count: 2 });
  const order = { package_id: PACKAGE, external_order_id: 'r' };
  for (const key of ['key', 'key', 'other']) await simulator.order(order, key);
  const statuses = [(await simulator.order()).at('status'), (await simulator.order()).at('status')];
  expect(statuses).toEqual(['processing', 'completed']);
});

it('a reset restores the first start, with the same ids for the same seed', async () => {
  await using simulator = await startTestSimulator();
  const before = (await simulator.admin.get('/state')).at('environments', 'sandbox', 'balance');
  const id = (await simulator.order()).textAt('id');
  await simulator.admin.post('/approval', { approved: true });
  await simulator.admin.post('/dialect', { name: 'conflicts' });
  await simulator.admin.post('/faults', { target: 'request', fault: { kind: 'server_error' }, count: null });
  await simulator.advance(1_000_000);
  const state = await simulator.admin.post('/reset');
  expect(state.body).toMatchObject({ approved: false, clock_ahead_ms: 0, faults: 0, dialect: { name: 'replays' } });
  const empty = { balance: before, orders: {}, esims: 0, deliveries: {} };
  expect(state.at('environments', 'sandbox')).toMatchObject(empty);
  expect((await simulator.sandbox.get('/wallet')).status).toBe(401);
  const token = (await simulator.open.post('/sandbox/login', LOGIN)).textAt('access_token');
  const again = await simulator.order({}, 'k', { headers: { authorization: `Bearer ${token}` } });
  expect(again.at('id')).toBe(id);
});

describe('the admin API', () => {
  it.each([
    ['/faults', { target: 'request', fault: { kind: 'latency', ms: 1, color: 'red' } }, 'fault.color'],
    ['/faults', { target: 'request', endpoint: 'buyAll', fault: { kind: 'hang' } }, 'endpoint'],
    ['/behaviour', { outcome: 'completed', credit_after_ms: 1 }, 'credit_after_ms'],
    ['/behaviour', { outcome: 'completed', debited: false }, 'debited'],
    ['/behaviour', { operation: 'cancellation', outcome: 'completed' }, 'outcome'],
    ['/behaviour', { operation: 'vpn', outcome: 'completed', package_id: 1001 }, 'package_id'],
    ['/behaviour', { operation: 'order', outcome: 'completed', vpn_plan_id: 301 }, 'vpn_plan_id'],
    ['/deposits', { environment: 'sandbox', amount: '0.00' }, 'amount'],
    ['/clock/advance', { ms: -1 }, 'ms'],
    ['/dialect', { properties: { mood: 'bad' } }, 'properties.mood'],
    ['/shape', { properties: { header_prefix: 'a b' } }, 'properties.header_prefix'],
    ['/webhooks/target', { url: 'http://127.0.0.1/', secret: 'short' }, 'secret'],
    ['/webhooks/target', { url: 'ftp://127.0.0.1/', secret: '12345678' }, 'url'],
    ['/fault-profile', { webhook: { lost: 2 } }, 'webhook.lost'],
    ['/packages/1001', {}, 'body'],
    ['/reset', { really: true }, 'really'],
  ])('refuses unknown fields and values with a 422 that names them: %s %j', async (path, body, field) => {
    const answer = await shared.admin.post(path, body);
    expect([answer.status, fieldsOf(answer)]).toEqual([422, [field]]);
  });

  it('refuses unknown query parameters, packages, deliveries and calls', async () => {
    expect((await shared.admin.get('/orders?color=red')).status).toBe(422);
    expect((await shared.admin.post('/packages/1', { available: false })).status).toBe(404);
    expect((await shared.admin.post('/deliveries/nobody/replay')).status).toBe(404);
    expect((await shared.admin.get('/everything')).status).toBe(404);
  });

  it('lists oldest first and continues after a sequence number', async () => {
    for (const external_order_id of ['a', 'b', 'c']) await shared.order({ external_order_id });
    const item = z.object({ external_order_id: z.string() });
    const shape = z.object({ data: z.array(item), next_after: z.number().nullable() });
    const first = (await shared.admin.get('/orders?limit=2')).read(shape);
    expect(first.data.map(({ external_order_id }) => external_order_id)).toEqual(['a', 'b']);
    const rest = (await shared.admin.get(`/orders?limit=2&after=${first.next_after}`)).read(shape);
    expect(rest).toEqual({ data: [expect.objectContaining({ external_order_id: 'c' })], next_after: null });
    const found = (await shared.admin.get('/ledger?external_order_id=b')).read(shape);
    expect(found.data).toHaveLength(1);
  });
});
