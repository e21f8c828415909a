import type { TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import type { Bought } from '#cli/sandbox-tour/legs/order-leg.ts';
import { noteCall } from '#cli/sandbox-tour/noting.ts';
import { clause, observeCall, type OpenObservations } from '#cli/sandbox-tour/observations.ts';
import { SIMULATED_STATES, type ServiceEsim, type SimulatedState } from '#upstream/contract.ts';

/** The states that eSIMs of the tour have reached. */
export type ReachedStates = ReadonlySet<SimulatedState>;

/** Brings one eSIM to each state that the simulation can set, through the states before it, as on a phone. */
export async function simulationLeg(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  esims: Bought['esims'],
): Promise<ReachedStates> {
  const reached = new Set<SimulatedState>();
  for (const [index, target] of SIMULATED_STATES.entries()) {
    const step = `an eSIM becomes ${target}`;
    const expected = `a read that says ${target}`;
    const esimId = esims[target]?.esimId;
    if (esimId === undefined) {
      notes.skipped(step, expected, 'there is no eSIM for it');
    } else if (
      observations.calls.sandbox_simulation !== undefined &&
      observations.calls.sandbox_simulation.kind !== 'works'
    ) {
      notes.skipped(step, expected, 'the simulation cannot be called');
    } else if (await bringTo(context, notes, observations, esimId, SIMULATED_STATES.slice(0, index + 1))) {
      if (await readsAs(context, notes, esimId, target)) reached.add(target);
    }
  }
  return reached;
}

async function bringTo(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  esimId: string,
  path: readonly SimulatedState[],
): Promise<boolean> {
  for (const state of path) {
    const result = await context.client.simulateEsim(esimId, state);
    if (observations.calls.sandbox_simulation === undefined) {
      noteCall(context, notes, observations, 'sandbox_simulation', observeCall(result));
    } else if (!result.ok) {
      const reason = result.kind === 'unsupported' ? 'it was not called' : clause(result.detail);
      notes.failed(`an eSIM becomes ${state}`, 'the service sets it', reason);
    }
    if (!result.ok) return false;
  }
  return true;
}

async function readsAs(
  { client }: TourContext,
  notes: LegNotes,
  esimId: string,
  state: SimulatedState,
): Promise<boolean> {
  const step = `an eSIM becomes ${state}`;
  const expected = `a read that says ${state}`;
  const esim = await client.getEsim(esimId);
  if (!esim.ok) {
    notes.failed(step, expected, clause(esim.detail));
    return false;
  }
  const problem = contradictionTo(state, esim.value);
  return notes.expect(problem === undefined, step, expected, problem ?? expected);
}

function contradictionTo(state: SimulatedState, esim: ServiceEsim): string | undefined {
  if (esim.status !== state) return `the read says ${esim.status}`;
  if (esim.installed_at == null) return 'the read has no installed_at';
  if (state !== 'installed' && esim.activated_at == null) return 'the read has no activated_at';
  return undefined;
}
