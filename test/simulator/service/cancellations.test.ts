import { describe, expect, it } from 'vitest';
import { startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { esimCancellation } from '#upstream/contract.ts';

const cancelled = async (simulator: SimulatorClient, esim: string) =>
  (await simulator.cancel(esim)).read(esimCancellation);

describe('each of the five conditions', () => {
  const evaluated = async (prepare: (simulator: SimulatorClient, esim: string) => Promise<unknown>) => {
    await using simulator = await startTestSimulator();
    const esim = await simulator.esim();
    await prepare(simulator, esim);
    const before = await simulator.balance();
    const answer = await cancelled(simulator, esim);
    if (answer.refund?.status !== 'completed') expect(await simulator.balance()).toBe(before);
    return [answer.status, answer.refund?.review, answer.refund?.unmet_conditions];
  };

  it('never installed: a profile on a phone goes to manual review', async () => {
    expect(await evaluated(async (simulator, esim) => simulator.simulate(esim, 'installed'))).toEqual([
      'processing',
      'manual_review',
      ['never_installed'],
    ]);
  });

  it.each(['active', 'consumed'])('usage zero and never activated: an %s eSIM is refused', async (state) => {
    expect(await evaluated(async (simulator, esim) => simulator.simulate(esim, state))).toEqual([
      'refused',
      'refused',
      ['usage_is_zero', 'never_installed', 'never_activated'],
    ]);
  });

  it('no completed top-up: else a refusal', async () => {
    expect(await evaluated(async (simulator, esim) => simulator.topUp(esim))).toEqual([
      'refused',
      'refused',
      ['no_completed_topup'],
    ]);
    expect(await evaluated(async (simulator, esim) => simulator.topUp(esim, 9003))).toEqual([
      'cancelled',
      'accepted',
      [],
    ]);
  });

  it('debit verified: else a review', async () => {
    expect(await evaluated(async (simulator) => simulator.admin.post('/dialect', { name: 'late_debits' }))).toEqual([
      'processing',
      'manual_review',
      ['debit_verified'],
    ]);
  });
});
