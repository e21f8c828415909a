import { describe, expect, it } from 'vitest';
import { DAY_MS, fieldsOf, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { esimUsage, serviceEsim } from '#upstream/contract.ts';

const read = async (simulator: SimulatorClient, id: string) => {
  const esim = (await simulator.sandbox.get(`/esims/${id}`)).read(serviceEsim);
  const usage = (await simulator.sandbox.get(`/esims/${id}/usage`)).read(esimUsage);
  return { ...esim, used: usage.data_used_mb, total: usage.data_total_mb };
};

describe('an eSIM', () => {
  it('has used nothing until it is active; installation and activation are reported separately', async () => {
    await using simulator = await startTestSimulator();
    const id = await simulator.esim();
    const fresh = {
      status: 'available',
      installed_at: null,
      activated_at: null,
      expires_at: null,
      used: 0,
      total: 1_024,
    };
    expect(await read(simulator, id)).toMatchObject(fresh);
    const installed = await simulator.simulate(id, 'installed');
    expect(installed.body).toMatchObject({ id, status: 'installed', activated_at: null });
    expect(await read(simulator, id)).toMatchObject({ status: 'installed', activated_at: null, used: 0 });
    await simulator.simulate(id, 'active');
    const active = await read(simulator, id);
    expect(active.installed_at).toBe(installed.at('installed_at'));
    expect(Date.parse(active.expires_at ?? '') - Date.parse(active.activated_at ?? '')).toBe(7 * DAY_MS);
    expect(active.used).toBeGreaterThan(0);
  });
});

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
