import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { FAULT_PROFILES, faultProfileNames } from '#simulator/behaviour/faults.ts';
import { startSimulator } from '#simulator/service/server.ts';
import { codeOf, PACKAGE, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { HttpClient, type HttpAnswer } from '#test/support/network/http.ts';

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

const rule = z.object({
  target: z.string(),
  fault: z.object({ kind: z.string() }),
  probability: z.number(),
  count: z.null(),
  profile: z.literal(true),
});

/** The statuses of sixty calls with possible faults that answer. */
async function weather(seed: string): Promise<readonly number[]> {
  await using simulator = await startTestSimulator({ seed });
  const chances = { request: { server_error: 0.3, rate_limited: 0.2 } };
  expect((await simulator.admin.post('/fault-profile', chances)).status).toBe(200);
  const statuses: number[] = [];
  for (let call = 0; call < 60; call += 1) statuses.push((await simulator.sandbox.get('/wallet')).status);
  return statuses;
}

describe('random faults', () => {
  it('are the same for the same seed and calls, and differ for another seed', async () => {
    const first = await weather('one');
    expect(new Set(first)).toEqual(new Set([200, 429, 503]));
    expect(await weather('one')).toEqual(first);
    expect(await weather('two')).not.toEqual(first);
  });

  it.each(faultProfileNames)('%s has a rule for each of its chances', async (name) => {
    const expected = Object.entries(FAULT_PROFILES[name]).flatMap(([target, chances]) =>
      Object.entries(chances).map(([kind, probability]) => `${target} ${kind} ${String(probability)}`),
    );
    // Not the usual client of the tests: its logins would meet the faults.
    const simulator = await startSimulator({ seed: 'test', faultProfile: name });
    const admin = new HttpClient(`${simulator.url}/simulator`);
    const { data } = (await admin.get('/faults')).read(z.object({ data: z.array(rule) }));
    const shown = data.map(({ target, fault, probability }) => `${target} ${fault.kind} ${probability}`);
    expect(shown.toSorted()).toEqual(expected.toSorted());
    await simulator.close();
  });
});

const MIDNIGHT = Date.parse('2026-01-01T00:00:00Z');
const limits = ({ headers }: HttpAnswer) =>
  ['ratelimit-policy', 'ratelimit', 'retry-after'].map((name) => headers.get(name));

describe('a rate limit', () => {
  it('allows the configured calls of a token in a window, and shows how many are left', async () => {
    let now = MIDNIGHT;
    await using simulator = await startTestSimulator({ rateLimit: 2, now: () => now });
    now += 15_000;
    expect(limits(await simulator.sandbox.get('/wallet'))).toEqual(['"token";q=2;w=60', '"token";r=1;t=45', null]);
    now += 500;
    expect(limits(await simulator.sandbox.get('/wallet'))).toEqual(['"token";q=2;w=60', '"token";r=0;t=45', null]);
    const refused = await simulator.sandbox.get('/wallet');
    expect(codeOf(refused)).toEqual([429, 'rate_limited']);
    expect(limits(refused)).toEqual(['"token";q=2;w=60', '"token";r=0;t=45', '45']);
    now += 44_499;
    expect((await simulator.sandbox.get('/wallet')).status).toBe(429);
    now += 1;
    expect((await simulator.sandbox.get('/wallet')).status).toBe(200);
  });
});
