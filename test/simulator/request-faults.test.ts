import { createHash } from 'node:crypto';
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

describe('a fault before the work', () => {
  it('rate_limited answers 429 with the configured Retry-After, and buys nothing', async () => {
    await using simulator = await startTestSimulator({}, false);
    await fault(simulator, { kind: 'rate_limited', retry_after: 7 });
    await fault(simulator, { kind: 'rate_limited', retry_after: 'Wed, 21 Oct 2026 07:28:00 GMT' });
    await fault(simulator, { kind: 'rate_limited' });
    const answers = [
      await simulator.order(body, 'k'),
      await simulator.order(body, 'k'),
      await simulator.order(body, 'k'),
    ];
    expect(answers.map((answer) => [answer.status, answer.headers.get('retry-after')])).toEqual([
      [429, '7'],
      [429, 'Wed, 21 Oct 2026 07:28:00 GMT'],
      [429, null],
    ]);
    expect(await simulator.debits('r')).toHaveLength(0);
    expect((await simulator.order(body, 'k')).status).toBe(201);
  });

  it('server_error answers with its status; with after_work the purchase is made', async () => {
    await using simulator = await startTestSimulator({}, false);
    await fault(simulator, { kind: 'server_error', status: 500 });
    expect((await simulator.order(body, 'k')).status).toBe(500);
    expect(await simulator.debits('r')).toHaveLength(0);
    await fault(simulator, { kind: 'server_error', status: 502, after_work: true });
    expect((await simulator.order(body, 'k')).status).toBe(502);
    expect(await simulator.debits('r')).toHaveLength(1);
  });

  it('connection_reset breaks the connection and buys nothing', async () => {
    await using simulator = await startTestSimulator({}, false);
    await fault(simulator, { kind: 'connection_reset' });
    await expect(simulator.order(body, 'k')).rejects.toThrow('fetch failed');
    expect(await simulator.debits('r')).toHaveLength(0);
  });

  it('answer replaces the answer by a given one', async () => {
    await using simulator = await startTestSimulator({}, false);
    await fault(simulator, { kind: 'answer', status: 302, headers: { Location: '/elsewhere' } });
    const answer = await simulator.order(body, 'k');
    expect([answer.status, answer.headers.get('location'), answer.text]).toEqual([302, '/elsewhere', '']);
    expect(await simulator.debits('r')).toHaveLength(0);
  });
});

describe('a fault after the work', () => {
  it('accepted_but_answer_lost buys, then breaks the connection; the key gives the result', async () => {
    await using simulator = await startTestSimulator({}, false);
    await fault(simulator, { kind: 'accepted_but_answer_lost' });
    await expect(simulator.order(body, 'k')).rejects.toThrow('fetch failed');
    expect(await simulator.debits('r')).toHaveLength(1);
    expect((await simulator.order(body, 'k')).at('status')).toBe('completed');
    expect(await simulator.debits('r')).toHaveLength(1);
  });

  it('truncated_body promises more than it sends', async () => {
    await using simulator = await startTestSimulator({}, false);
    await fault(simulator, { kind: 'truncated_body' });
    await expect(simulator.order(body, 'k')).rejects.toThrow('terminated');
    expect(await simulator.debits('r')).toHaveLength(1);
  });

  it('garbage_body answers 201 with a body that is not JSON', async () => {
    await using simulator = await startTestSimulator({}, false);
    await fault(simulator, { kind: 'garbage_body' });
    const answer = await simulator.order(body, 'k');
    expect([answer.status, answer.body]).toEqual([201, undefined]);
    expect(await simulator.debits('r')).toHaveLength(1);
  });
});

describe('a fault in time', () => {
  it.each([
    ['before the work', false, 0],
    ['after it', true, 1],
  ])('hang never answers: %s', async (_when, after_work, debits) => {
    await using simulator = await startTestSimulator({}, false);
    await fault(simulator, { kind: 'hang', after_work });
    const gaveUp = new AbortController();
    const url = `${simulator.sandbox.baseUrl}/orders`;
    const call = fetch(url, { method: 'POST', headers: headersOf(simulator), body, signal: gaveUp.signal });
    await waitFor(
      'the call hangs',
      async () => (await simulator.requests('endpoint=createOrder'))[0]?.faults[0] === 'hang',
    );
    expect(await simulator.debits('r')).toHaveLength(debits);
    gaveUp.abort();
    await expect(call).rejects.toThrow('aborted');
  });

  it('latency at the answer: the purchase is made long before the caller gets the answer', async () => {
    await using simulator = await startTestSimulator({}, false);
    await fault(simulator, { kind: 'latency', ms: 60_000, at: 'answer' });
    const gaveUp = new AbortController();
    const url = `${simulator.sandbox.baseUrl}/orders`;
    const call = fetch(url, { method: 'POST', headers: headersOf(simulator), body, signal: gaveUp.signal });
    await waitFor('the purchase is made', async () => (await simulator.debits('r')).length === 1);
    gaveUp.abort();
    await expect(call).rejects.toThrow('aborted');
  });

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

  it('can be removed, one or all', async () => {
    await using simulator = await startTestSimulator({}, false);
    const id = await fault(simulator, { kind: 'server_error' }, { count: null });
    await fault(simulator, { kind: 'server_error' }, { count: null });
    expect((await simulator.admin.call('DELETE', `/faults/${id}`, {})).status).toBe(204);
    expect((await simulator.admin.call('DELETE', `/faults/${id}`, {})).status).toBe(404);
    expect((await simulator.order()).status).toBe(503);
    expect((await simulator.admin.call('DELETE', '/faults', {})).status).toBe(204);
    expect((await simulator.order()).status).toBe(201);
  });
});

describe('the request log', () => {
  it('shows each sent request and its result, answered or not', async () => {
    await using simulator = await startTestSimulator({}, false);
    await fault(simulator, { kind: 'accepted_but_answer_lost' });
    await simulator.order(body, 'k').catch(() => undefined);
    await simulator.order(body, 'k');
    const sha256 = createHash('sha256').update(body).digest('hex');
    const common = { environment: 'sandbox', endpoint: 'createOrder', body_sha256: sha256, result_status: 201 };
    expect(await simulator.requests('idempotency_key=k')).toMatchObject([
      { ...common, status: null, faults: ['accepted_but_answer_lost'] },
      { ...common, status: 201, faults: [] },
    ]);
  });

  it('contains no body, API key or password', async () => {
    await using simulator = await startTestSimulator({}, false);
    await simulator.order({ device_imei: '356938035643809' });
    const { text } = await simulator.admin.get('/requests');
    expect(text).not.toContain('356938035643809');
    expect(text).not.toContain('simulator-password');
    expect(text).not.toContain('sbx_');
  });
});

function headersOf({ tokens }: SimulatorClient): Record<string, string> {
  const authorization = `Bearer ${tokens.sandbox}`;
  return { authorization, 'content-type': 'application/json', 'idempotency-key': 'raw' };
}
