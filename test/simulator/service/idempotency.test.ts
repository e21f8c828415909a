import { describe, expect, it } from 'vitest';
import { PACKAGE, startTestSimulator } from '#test/simulator/support.ts';

const bodyFor = (reference: string) => JSON.stringify({ package_id: PACKAGE, external_order_id: reference });

describe('a repeated Idempotency-Key', () => {
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
