import { describe, expect, it } from 'vitest';
import { DAY_MS, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { pageOf, servicePackage } from '#upstream/contract.ts';

const optionsOf = async (simulator: SimulatorClient, esim: string): Promise<number[]> => {
  const page = (await simulator.sandbox.get(`/esims/${esim}/topup-options`)).read(pageOf(servicePackage));
  expect(page.next_cursor).toBeNull();
  return page.data.map(({ id }) => id);
};

describe('top-up options', () => {
  it('omit packages that are not sold, and are empty for a cancelled or expired eSIM', async () => {
    await using simulator = await startTestSimulator();
    const expiring = await simulator.esim();
    const cancelled = await simulator.esim();
    await simulator.admin.post('/packages/1002', { available: false });
    expect(await optionsOf(simulator, expiring)).not.toContain(1002);
    expect((await simulator.topUp(expiring, 1002)).at('error', 'code')).toBe('package_unavailable');
    await simulator.cancel(cancelled);
    await simulator.simulate(expiring, 'active');
    await simulator.advance(7 * DAY_MS);
    for (const esim of [cancelled, expiring]) {
      expect(await optionsOf(simulator, esim)).toEqual([]);
      const refused = await simulator.topUp(esim);
      expect([refused.status, refused.at('error', 'code')]).toEqual([422, 'topup_incompatible']);
    }
    expect((await simulator.ledger()).filter(({ reason }) => reason === 'topup')).toEqual([]);
  });
});

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
