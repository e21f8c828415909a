import { noteDebit, notePrice } from '#cli/sandbox-tour/amounts.ts';
import type { Leg } from '#cli/sandbox-tour/leg.ts';
import type { Bought } from '#cli/sandbox-tour/legs/orders.ts';
import { clause, noteCall, notePurchase, noteRepeat, observeCall } from '#cli/sandbox-tour/observations.ts';
import { follow } from '#cli/sandbox-tour/purchases.ts';
import { topupRequestBytes } from '#upstream/client/request-bytes.ts';
import { SIMULATED_STATES, type ServiceEsim, type SimulatedState } from '#upstream/contract.ts';

/** Each state follows those before it, as on a phone. */
export async function simulationLeg(leg: Leg, esims: Bought['esims']): Promise<ReadonlySet<SimulatedState>> {
  const reached = new Set<SimulatedState>();
  for (const [index, target] of SIMULATED_STATES.entries()) {
    const step = stepTo(leg, target);
    const esimId = esims[target]?.esimId;
    const seen = leg.observations.calls.sandbox_simulation;
    if (esimId === undefined) {
      step.skipped('there is no eSIM for it');
    } else if (seen !== undefined && seen.kind !== 'works') {
      step.skipped('the simulation cannot be called');
    } else if (await bringTo(leg, esimId, SIMULATED_STATES.slice(0, index + 1))) {
      if (await readsAs(leg, esimId, target)) reached.add(target);
    }
  }
  return reached;
}

function stepTo(leg: Leg, state: SimulatedState) {
  return leg.step(`an eSIM becomes ${state}`, `a read that says ${state}`);
}

async function bringTo(leg: Leg, esimId: string, path: readonly SimulatedState[]): Promise<boolean> {
  for (const state of path) {
    const result = await leg.client.simulateEsim(esimId, state);
    if (leg.observations.calls.sandbox_simulation === undefined) {
      noteCall(leg, 'sandbox_simulation', observeCall(result));
    } else if (!result.ok) {
      const reason = result.kind === 'unsupported' ? 'it was not called' : clause(result.detail);
      leg.step(`an eSIM becomes ${state}`, 'the service sets it').failed(reason);
    }
    if (!result.ok) return false;
  }
  return true;
}

async function readsAs(leg: Leg, esimId: string, state: SimulatedState): Promise<boolean> {
  const step = stepTo(leg, state);
  const esim = await leg.client.getEsim(esimId);
  if (!esim.ok) {
    step.failed(clause(esim.detail));
    return false;
  }
  const problem = contradictionTo(state, esim.value);
  return step.expect(problem === undefined, problem ?? `a read that says ${state}`);
}

function contradictionTo(state: SimulatedState, esim: ServiceEsim): string | undefined {
  if (esim.status !== state) return `the read says ${esim.status}`;
  if (esim.installed_at == null) return 'the read has no installed_at';
  if (state !== 'installed' && esim.activated_at == null) return 'the read has no activated_at';
  return undefined;
}

export async function topupLeg(leg: Leg, esimId: string): Promise<boolean> {
  const { client, now, newId } = leg;
  const options = await client.listTopupOptions(esimId);
  const choice = leg.step('GET /esims/{id}/topup-options', 'packages that fit');
  if (!options.ok) {
    choice.failed(clause(options.detail));
    return false;
  }
  const fitting = options.value.items.filter(({ available }) => available);
  choice.ok(`${fitting.length} for sale`);
  const [option] = fitting;
  const step = leg.step('POST /topups', 'a top-up that is completed');
  if (option === undefined) {
    step.skipped('this eSIM has no option');
    return false;
  }

  const body = topupRequestBytes({ esimId, packageId: option.id });
  const request = { idempotencyKey: newId(), body, esimId, packageId: option.id };
  const sentAtMs = now();
  const begun = await client.createTopup(request);
  if (!begun.ok) {
    notePurchase(leg, 'topup', observeCall(begun));
    step.failed(clause(begun.detail));
    return false;
  }
  const { id } = begun.value;
  const read = () => client.getTopup(id);
  const find = () => client.findTopupsOfEsim(esimId);
  const topup = await follow(leg, begun.value, read, find);
  if (topup.status === 'completed') {
    notePurchase(leg, 'topup', { kind: 'works', detail: 'one was completed' });
    step.ok(`package ${option.id}: completed`);
  } else {
    notePurchase(leg, 'topup', { kind: 'unclear', detail: `the one that was bought is ${topup.status}` });
    step.failed(`package ${option.id}: ${topup.status}`);
  }
  const price = notePrice(leg, 'topup', option, topup);
  await noteDebit(leg, 'topup', price, ({ topup_id: named }) => named === id);

  noteCall(leg, 'topup_read', observeCall(await read()));
  const list = observeCall(await find(), ({ items }) =>
    items.some((item) => item.id === id) ? undefined : 'it does not contain the new top-up under its esim_id',
  );
  noteCall(leg, 'topup_list', list);
  const ageMs = now() - sentAtMs;
  noteRepeat(leg, 'top-up', ageMs, await client.createTopup(request), (again) => again.id === id);
  return topup.status === 'completed';
}
