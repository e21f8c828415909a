import { noteDebit, notePrice } from '#cli/sandbox-tour/amounts.ts';
import type { Leg } from '#cli/sandbox-tour/leg.ts';
import type { Bought } from '#cli/sandbox-tour/legs/orders.ts';
import {
  type CallObservation,
  clause,
  noteCall,
  notePurchase,
  noteRepeat,
  observeCall,
} from '#cli/sandbox-tour/observations.ts';
import { follow, observeRepeat } from '#cli/sandbox-tour/purchases.ts';
import { topupRequestBytes } from '#upstream/client/request-bytes.ts';
import { SIMULATED_STATES, type ServiceEsim, type SimulatedState } from '#upstream/contract.ts';

export type ReachedStates = ReadonlySet<SimulatedState>;

/** Each state follows those before it, as on a phone. */
export async function simulationLeg(leg: Leg, esims: Bought['esims']): Promise<ReachedStates> {
  const reached = new Set<SimulatedState>();
  for (const [index, target] of SIMULATED_STATES.entries()) {
    const step = `an eSIM becomes ${target}`;
    const expected = `a read that says ${target}`;
    const esimId = esims[target]?.esimId;
    if (esimId === undefined) {
      leg.skipped(step, expected, 'there is no eSIM for it');
    } else if (
      leg.observations.calls.sandbox_simulation !== undefined &&
      leg.observations.calls.sandbox_simulation.kind !== 'works'
    ) {
      leg.skipped(step, expected, 'the simulation cannot be called');
    } else if (await bringTo(leg, esimId, SIMULATED_STATES.slice(0, index + 1))) {
      if (await readsAs(leg, esimId, target)) reached.add(target);
    }
  }
  return reached;
}

async function bringTo(leg: Leg, esimId: string, path: readonly SimulatedState[]): Promise<boolean> {
  for (const state of path) {
    const result = await leg.client.simulateEsim(esimId, state);
    if (leg.observations.calls.sandbox_simulation === undefined) {
      noteCall(leg, 'sandbox_simulation', observeCall(result));
    } else if (!result.ok) {
      const reason = result.kind === 'unsupported' ? 'it was not called' : clause(result.detail);
      leg.failed(`an eSIM becomes ${state}`, 'the service sets it', reason);
    }
    if (!result.ok) return false;
  }
  return true;
}

async function readsAs(leg: Leg, esimId: string, state: SimulatedState): Promise<boolean> {
  const step = `an eSIM becomes ${state}`;
  const expected = `a read that says ${state}`;
  const esim = await leg.client.getEsim(esimId);
  if (!esim.ok) {
    leg.failed(step, expected, clause(esim.detail));
    return false;
  }
  const problem = contradictionTo(state, esim.value);
  return leg.expect(problem === undefined, step, expected, problem ?? expected);
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
  if (!options.ok) {
    leg.failed('GET /esims/{id}/topup-options', 'packages that fit', clause(options.detail));
    return false;
  }
  const fitting = options.value.items.filter(({ available }) => available);
  leg.ok('GET /esims/{id}/topup-options', 'packages that fit', `${fitting.length} for sale`);
  const [option] = fitting;
  const [step, expected] = ['POST /topups', 'a top-up that is completed'];
  if (option === undefined) {
    leg.skipped(step, expected, 'this eSIM has no option');
    return false;
  }

  const body = topupRequestBytes({ esimId, packageId: option.id });
  const request = { idempotencyKey: newId(), body, esimId, packageId: option.id };
  const sentAtMs = now();
  const begun = await client.createTopup(request);
  if (!begun.ok) {
    notePurchase(leg, 'topup', observeCall(begun));
    leg.failed(step, expected, clause(begun.detail));
    return false;
  }
  const { id } = begun.value;
  const topup = await follow(
    leg,
    begun.value,
    () => client.getTopup(id),
    () => client.findTopupsOfEsim(esimId),
  );
  const seen: CallObservation =
    topup.status === 'completed'
      ? { kind: 'works', detail: 'one was completed' }
      : { kind: 'unclear', detail: `the one that was bought is ${topup.status}` };
  notePurchase(leg, 'topup', seen);
  if (topup.status === 'completed') leg.ok(step, expected, `package ${option.id}: completed`);
  else leg.failed(step, expected, `package ${option.id}: ${topup.status}`);
  const price = notePrice(leg, 'topup', option, topup);
  await noteDebit(leg, 'topup', price, ({ topup_id: named }) => named === id);

  const read = observeCall(await client.getTopup(id));
  noteCall(leg, 'topup_read', read);
  const list = observeCall(await client.findTopupsOfEsim(esimId), ({ items }) =>
    items.some((item) => item.id === id) ? undefined : 'it does not contain the new top-up under its esim_id',
  );
  noteCall(leg, 'topup_list', list);
  const ageMs = now() - sentAtMs;
  noteRepeat(leg, observeRepeat('top-up', id, ageMs, await client.createTopup(request)));
  return topup.status === 'completed';
}
