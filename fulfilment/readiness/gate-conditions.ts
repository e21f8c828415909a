/** Conditions of the purchase gate that hold purchases, for the readiness probe. */
import type { Executor } from '#db/connection/database.ts';
import { listCircuits } from '#db/gate/circuits.ts';
import { activePauses, type PauseRow } from '#db/gate/pauses.ts';
import { CIRCUITS, circuitSentence } from '#domain/gate/circuit.ts';
import { pauseScope } from '#domain/gate/purchase-gate.ts';
import type { Degradation } from '#telemetry/readiness.ts';

function pauseText({ id, kind, failureClass }: PauseRow): string {
  return `${pauseScope(kind, failureClass)} (${id})`;
}

/** Circuits that are not closed, by the failure class of held work, and pauses. */
export async function readGateConditions(db: Executor): Promise<Degradation[]> {
  const circuits = (await listCircuits(db)).filter(({ state }) => state !== 'closed');
  const pauses = await activePauses(db);
  return [
    ...circuits.map(({ name, state }) => ({
      condition: CIRCUITS[name].heldAs,
      detail: `${circuitSentence(name)} The circuit ${name} is ${state}: see \`npx reseller gate show\`.`,
    })),
    ...(pauses.length === 0
      ? []
      : [
          {
            condition: 'purchases_paused',
            detail: `Purchases are paused: ${pauses.map(pauseText).join('; ')}. See \`npx reseller gate show\`.`,
          },
        ]),
  ];
}
