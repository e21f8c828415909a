import { describe, expect, it } from 'vitest';
import { startTestSimulator } from '#test/simulator/support.ts';

describe('a top-up', () => {
  it('is refused during another one of its eSIM, and during its cancellation', async () => {
    await using simulator = await startTestSimulator();
    const esim = await simulator.esim();
    const first = (await simulator.topUp(esim, 9004)).textAt('id');
    for (const refused of [await simulator.topUp(esim), await simulator.cancel(esim)]) {
      expect([refused.status, refused.at('error', 'code')]).toEqual([409, 'esim_busy']);
    }
    expect((await simulator.topUp(await simulator.esim())).status).toBe(201);
    await simulator.admin.post(`/topups/${first}/fail`);
    expect((await simulator.topUp(esim)).status).toBe(201);

    const other = await simulator.esim();
    await simulator.admin.post('/behaviour', { operation: 'cancellation', outcome: 'manual_review', count: 1 });
    await simulator.cancel(other);
    expect((await simulator.topUp(other)).at('error', 'code')).toBe('esim_busy');
  });
});
