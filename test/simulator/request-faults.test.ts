import { expect, it } from 'vitest';
import { PACKAGE, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';

const body = JSON.stringify({ package_id: PACKAGE, external_order_id: 'r' });

async function fault(simulator: SimulatorClient, what: object, rule: object = {}) {
  const added = { target: 'request', endpoint: 'createOrder', fault: what, ...rule };
  expect((await simulator.admin.post('/faults', added)).status).toBe(201);
}

it.each<[string, object, number | 'broken', debits: number]>([
  ['rate_limited', { retry_after: 7 }, 429, 0],
  ['server_error', {}, 503, 0],
  ['server_error', { after_work: true }, 503, 1],
  ['answer', { status: 302 }, 302, 0],
  ['connection_reset', {}, 'broken', 0],
  ['accepted_but_answer_lost', {}, 'broken', 1],
  ['truncated_body', {}, 'broken', 1],
  ['garbage_body', {}, 201, 1],
])('the fault %s %j is answered with %s, after %i debits', async (kind, more, status, debits) => {
  await using simulator = await startTestSimulator();
  await fault(simulator, { kind, ...more });
  const answer = await simulator.order(body, 'k').catch(() => undefined);
  expect(answer?.status ?? 'broken').toBe(status);
  expect(answer?.headers.get('retry-after') ?? null).toBe(kind === 'rate_limited' ? '7' : null);
  expect(kind === 'garbage_body' ? answer?.body : undefined).toBeUndefined();
  expect(await simulator.debits('r')).toHaveLength(debits);
});

it('a fault rule fires from its nth hit on, count times, and counts both', async () => {
  await using simulator = await startTestSimulator();
  await fault(simulator, { kind: 'server_error' }, { nth: 2, count: 2 });
  const statuses: number[] = [];
  for (let n = 0; n < 5; n += 1) statuses.push((await simulator.order()).status);
  expect(statuses).toEqual([201, 503, 503, 201, 201]);
  expect((await simulator.admin.get('/faults')).at('data', 0)).toMatchObject({ hits: 5, fired: 2 });
});

it('the request log contains no body, API key or password', async () => {
  await using simulator = await startTestSimulator();
  await simulator.order({ device_imei: '356938035643809' });
  const { text } = await simulator.admin.get('/requests');
  expect(text).toContain('/orders');
  for (const secret of ['356938035643809', 'simulator-password', 'sbx_']) expect(text).not.toContain(secret);
});
