import { describe, expect, it } from 'vitest';
import { DAY_MS, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { esimUsage, pageOf, servicePackage, serviceTopup } from '#upstream/contract.ts';

const optionsOf = async (simulator: SimulatorClient, esim: string): Promise<number[]> => {
  const page = (await simulator.sandbox.get(`/esims/${esim}/topup-options`)).read(pageOf(servicePackage));
  expect(page.next_cursor).toBeNull();
  return page.data.map(({ id }) => id);
};
const usageOf = async (simulator: SimulatorClient, esim: string) =>
  (await simulator.sandbox.get(`/esims/${esim}/usage`)).read(esimUsage);
const topupReaches = async (simulator: SimulatorClient, id: string, status: string): Promise<void> =>
  expect.poll(async () => (await simulator.sandbox.get(`/topups/${id}`)).at('status')).toBe(status);

describe('top-up options', () => {
  it('have the same countries', async () => {
    await using simulator = await startTestSimulator();
    expect(await optionsOf(simulator, await simulator.esim(1001))).toEqual([
      1001, 1002, 1003, 9001, 9002, 9003, 9004, 9005,
    ]);
    expect(await optionsOf(simulator, await simulator.esim(1025))).toEqual([1025, 1026]);
    expect(await optionsOf(simulator, await simulator.esim(1027))).toEqual([1027]);
    expect(await optionsOf(simulator, await simulator.esim(2001))).toEqual([2001, 2002]);
  });

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
  it('debits its price and adds its data', async () => {
    await using simulator = await startTestSimulator();
    const esim = await simulator.esim();
    const topup = (await simulator.topUp(esim, 1002)).read(serviceTopup);
    expect(topup).toMatchObject({ status: 'completed', esim_id: esim, package_id: 1002, price_for_reseller: '5.10' });
    expect((await simulator.sandbox.get(`/topups/${topup.id}`)).read(serviceTopup)).toEqual(topup);
    expect(await usageOf(simulator, esim)).toMatchObject({ data_used_mb: 0, data_total_mb: 4_096 });
    const debit = { type: 'debit', amount: '5.10', reason: 'topup', topup_id: topup.id, esim_id: esim, order_id: null };
    expect((await simulator.ledger()).slice(2)).toMatchObject([debit]);
    const seen = await simulator.sandbox.get('/wallet/transactions?limit=1');
    expect(seen.at('data', 0)).toMatchObject({ reason: 'topup', topup_id: topup.id, esim_id: esim });
  });

  it('adds its data when it completes, and none when it fails', async () => {
    await using simulator = await startTestSimulator();
    const esim = await simulator.esim();
    const later = (await simulator.topUp(esim, 9001)).read(serviceTopup);
    expect(later.status).toBe('processing');
    await topupReaches(simulator, later.id, 'completed');
    expect((await usageOf(simulator, esim)).data_total_mb).toBe(2_048);
    const balance = await simulator.balance();
    const failing = (await simulator.topUp(esim, 9002)).read(serviceTopup);
    await topupReaches(simulator, failing.id, 'failed');
    const failed = (await simulator.sandbox.get(`/topups/${failing.id}`)).read(serviceTopup);
    expect(failed.failure?.code).toBe('supplier_failed');
    expect(await simulator.balance()).toBe(balance);
    expect((await simulator.ledger()).at(-1)).toMatchObject({ type: 'credit', reason: 'refund', topup_id: failing.id });
    expect((await usageOf(simulator, esim)).data_total_mb).toBe(2_048);
  });

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

  it('makes a consumed eSIM active again, with the time of its package on top', async () => {
    await using simulator = await startTestSimulator();
    const esim = await simulator.esim();
    await simulator.simulate(esim, 'consumed');
    const before = Date.parse((await simulator.sandbox.get(`/esims/${esim}`)).textAt('expires_at'));
    await simulator.topUp(esim, 1002);
    const after = await simulator.sandbox.get(`/esims/${esim}`);
    expect(after.at('status')).toBe('active');
    expect(Date.parse(after.textAt('expires_at')) - before).toBe(30 * DAY_MS);
    expect(await usageOf(simulator, esim)).toMatchObject({ data_used_mb: 1_024, data_total_mb: 4_096 });
  });
});
