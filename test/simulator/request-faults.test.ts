import { describe, expect, it } from 'vitest';
import { PACKAGE, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { waitFor } from '#test/support/wait-for.ts';

const body = JSON.stringify({ package_id: PACKAGE, external_order_id: 'r' });

async function fault(simulator: SimulatorClient, what: Record<string, unknown>, rule: Record<string, unknown> = {}) {
  const added = await simulator.admin.post('/faults', {
    target: 'request',
    endpoint: 'createOrder',
    fault: what,
    ...rule,
  });
  expect(added.status).toBe(201);
  return added.textAt('id');
}

describe('a fault', () => {
  it.each<[string, Record<string, unknown>, number | 'broken', debits: number]>([
    ['rate_limited', { retry_after: 7 }, 429, 0],
    ['server_error', {}, 503, 0],
    ['server_error', { after_work: true }, 503, 1],
    ['answer', { status: 302 }, 302, 0],
    ['connection_reset', {}, 'broken', 0],
    ['accepted_but_answer_lost', {}, 'broken', 1],
    ['truncated_body', {}, 'broken', 1],
    ['garbage_body', {}, 201, 1],
  ])('%s %j is answered with %s, after %i debits', async (kind, more, status, debits) => {
    await using simulator = await startTestSimulator({}, false);
    await fault(simulator, { kind, ...more });
    const answer = await simulator.order(body, 'k').catch(() => undefined);
    expect(answer?.status ?? 'broken').toBe(status);
    expect(answer?.headers.get('retry-after') ?? null).toBe(kind === 'rate_limited' ? '7' : null);
    expect(kind === 'garbage_body' ? answer?.body : undefined).toBeUndefined();
    expect(await simulator.debits('r')).toHaveLength(debits);
  });
});

describe('a fault in time', () => {
  it('latency at work keeps the key in use meanwhile', async () => {
    await using simulator = await startTestSimulator({}, false);
    // Long enough for the second send to arrive during the work of the first, on a busy machine too.
    await fault(simulator, { kind: 'latency', ms: 2_000, at: 'work' });
    const [slow, fast] = await Promise.all([
      simulator.order(body, 'k'),
      waitFor(
        'the first send has arrived',
        async () => (await simulator.requests('idempotency_key=k')).length === 1,
      ).then(async () => simulator.order(body, 'k')),
    ]);
    expect(slow.status).toBe(201);
    expect([fast.status, fast.at('error', 'code')]).toEqual([409, 'idempotency_key_in_use']);
  });

  it('does not delay the stop of a simulator', async () => {
    const simulator = await startTestSimulator({}, false);
    await fault(simulator, { kind: 'hang' });
    const call = simulator.order(body, 'k');
    const ended = call.then(
      () => 'answered',
      () => 'cut off',
    );
    await waitFor('the call hangs', async () => (await simulator.requests('idempotency_key=k')).length === 1);
    await simulator.simulator.close();
    expect(await ended).toBe('cut off');
  });
});

describe('a fault rule', () => {
  it('fires from its nth hit on, count times, and counts both', async () => {
    await using simulator = await startTestSimulator({}, false);
    const id = await fault(simulator, { kind: 'server_error' }, { nth: 2, count: 2 });
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) statuses.push((await simulator.order()).status);
    expect(statuses).toEqual([201, 503, 503, 201, 201]);
    expect((await simulator.admin.get('/faults')).at('data', 0)).toMatchObject({ id, hits: 5, fired: 2 });
  });
});

describe('the request log', () => {
  it('contains no body, API key or password', async () => {
    await using simulator = await startTestSimulator({}, false);
    await simulator.order({ device_imei: '356938035643809' });
    const { text } = await simulator.admin.get('/requests');
    expect(text).not.toContain('356938035643809');
    expect(text).not.toContain('simulator-password');
    expect(text).not.toContain('sbx_');
  });
});
