import { describe, expect, it } from 'vitest';
import { fieldsOf, startTestSimulator } from '#test/simulator/support.ts';

describe('the sandbox simulation', () => {
  it('does not go back, and keeps the present state', async () => {
    await using simulator = await startTestSimulator();
    const id = await simulator.esim();
    const first = await simulator.simulate(id, 'active');
    await simulator.advance(60_000);
    expect((await simulator.simulate(id, 'active')).body).toEqual(first.body);
    const back = await simulator.simulate(id, 'installed');
    expect([back.status, fieldsOf(back)]).toEqual([422, ['state']]);
    const cancelled = await simulator.esim();
    await simulator.cancel(cancelled);
    expect((await simulator.simulate(cancelled, 'installed')).status).toBe(422);
  });
});
