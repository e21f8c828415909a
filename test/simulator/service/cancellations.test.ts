import { expect, it } from 'vitest';
import { startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { esimCancellation } from '#upstream/contract.ts';

type Prepare = (simulator: SimulatorClient, esim: string) => Promise<unknown>;
const used = ['usage_is_zero', 'never_installed', 'never_activated'];

it.each<[string, Prepare, status: string, review: string, unmet: readonly string[]]>([
  ['installed', (client, esim) => client.simulate(esim, 'installed'), 'processing', 'manual_review', [used[1] ?? '']],
  ['active', (client, esim) => client.simulate(esim, 'active'), 'refused', 'refused', used],
  ['recharged', (client, esim) => client.topUp(esim), 'refused', 'refused', ['no_completed_topup']],
  ['recharged without success', (client, esim) => client.topUp(esim, 9003), 'cancelled', 'accepted', []],
  [
    'not yet debited',
    (client) => client.admin.post('/dialect', { name: 'late_debits' }),
    'processing',
    'manual_review',
    ['debit_verified'],
  ],
])('the five conditions decide the cancellation of an eSIM that is %s', async (_state, prepare, ...expected) => {
  await using simulator = await startTestSimulator();
  const esim = await simulator.esim();
  await prepare(simulator, esim);
  const before = await simulator.balance();
  const { status, refund } = (await simulator.cancel(esim)).read(esimCancellation);
  expect([status, refund?.review, refund?.unmet_conditions]).toEqual(expected);
  expect((await simulator.balance()) !== before).toBe(status === 'cancelled');
});
