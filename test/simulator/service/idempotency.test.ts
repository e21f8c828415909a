import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PACKAGE, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';

const bodyFor = (reference: string) => JSON.stringify({ package_id: PACKAGE, external_order_id: reference });

describe('a repeated Idempotency-Key', () => {
  it('with the same bytes returns the stored answer, also after a change', async () => {
    await using simulator = await startTestSimulator();
    const body = JSON.stringify({ package_id: 9001, external_order_id: 'r' });
    const first = await simulator.order(body, 'key');
    await simulator.orderReaches(first.textAt('id'), 'completed');
    const second = await simulator.order(body, 'key');
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(second.headers.get('content-type')).toBe('application/json');
    expect(await simulator.debits('r')).toHaveLength(1);
  });

  it('with other bytes is refused, even if they mean the same', async () => {
    await using simulator = await startTestSimulator();
    await simulator.order(bodyFor('r'), 'key');
    for (const body of [bodyFor('other'), ` ${bodyFor('r')}`]) {
      const answer = await simulator.order(body, 'key');
      expect([answer.status, answer.at('error', 'code')]).toEqual([409, 'idempotency_key_reused']);
    }
    expect(await simulator.debits('r')).toHaveLength(1);
    expect(await simulator.debits('other')).toHaveLength(0);
  });

  it('of one environment is new in the other', async () => {
    await using simulator = await startTestSimulator({ approved: true, productionBalance: '10.00' });
    const headers = { 'idempotency-key': 'key' };
    const sandbox = await simulator.order(bodyFor('r'), 'key');
    const production = await simulator.production.post('/orders', bodyFor('r'), { headers });
    expect([sandbox.status, production.status]).toEqual([201, 201]);
    expect(production.at('id')).not.toBe(sandbox.at('id'));
  });

  it('of a refusal may be used again', async () => {
    await using simulator = await startTestSimulator({ sandboxBalance: '0.00' });
    expect((await simulator.order(bodyFor('r'), 'key')).status).toBe(402);
    await simulator.admin.post('/deposits', { environment: 'sandbox', amount: '5.00' });
    expect((await simulator.order(bodyFor('r'), 'key')).status).toBe(201);
  });

  it('does not allow another external_order_id: that must be unique itself', async () => {
    await using simulator = await startTestSimulator();
    await simulator.order(bodyFor('r'), 'key-1');
    const answer = await simulator.order(bodyFor('r'), 'key-2');
    expect([answer.status, answer.at('error', 'code')]).toEqual([409, 'reference_exists']);
    expect(await simulator.debits('r')).toHaveLength(1);
  });
});

describe('fifty concurrent sends of one key', () => {
  const fifty = async (simulator: SimulatorClient, key: string) =>
    Promise.all(Array.from({ length: 50 }, () => simulator.order(bodyFor('r'), key)));

  it('debit once; all get the same result', async () => {
    await using simulator = await startTestSimulator();
    const answers = await fifty(simulator, randomUUID());
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await simulator.debits('r')).toHaveLength(1);
  });

  it('debit once during a slow purchase; the others are refused because the key is in use', async () => {
    await using simulator = await startTestSimulator();
    await simulator.admin.post('/dialect', { properties: { purchase_takes_ms: 300 } });
    const answers = await fifty(simulator, randomUUID());
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(1);
    const codes = new Set(answers.filter(({ status }) => status !== 201).map((answer) => answer.at('error', 'code')));
    expect([...codes]).toEqual(['idempotency_key_in_use']);
    expect(await simulator.debits('r')).toHaveLength(1);
    // After the purchase, the key replays.
    expect((await simulator.order(bodyFor('other'), randomUUID())).status).toBe(201);
  });
});
