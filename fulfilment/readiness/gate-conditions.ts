/** Conditions of the purchase gate that hold purchases, for the readiness probe. */
import type { Executor } from '#db/connection/database.ts';
import { listCircuits } from '#db/gate/circuits.ts';
import { parkedPurchases, stoppedLines, type LineRow, type Parked } from '#db/gate/lines.ts';
import { activePauses, type PauseRow } from '#db/gate/pauses.ts';
import { CIRCUITS, circuitSentence } from '#domain/gate/circuit.ts';
import { hasDrift, lineTexts } from '#domain/gate/drift.ts';
import { pauseScope } from '#domain/gate/purchase-gate.ts';
import { addMoney, plainText, type Money } from '#domain/money/money.ts';
import type { Degradation } from '#telemetry/probes.ts';

function pauseText({ id, kind, failureClass }: PauseRow): string {
  return `${pauseScope(kind, failureClass)} (${id})`;
}

/** For each drift stop: what it stops, since when, the money of its parked purchases, and what ends it. */
export async function driftStopTexts(db: Executor): Promise<{ readonly text: string; readonly isDrift: boolean }[]> {
  const lines = await stoppedLines(db);
  const parked = lines.length === 0 ? [] : await parkedPurchases(db);
  return lines.map((line) => ({ text: lineText(line, parked), isDrift: hasDrift(line) }));
}

function lineText({ kind, since, detail, ...line }: LineRow, parked: readonly Parked[]): string {
  const { stops, end } = lineTexts(kind, line);
  const last = detail === null ? '' : ` Last: ${detail}`;
  const paid = parkedText(parked.filter((one) => one.kind === kind));
  return `${stops}${last} Since ${since?.toISOString()}. ${paid}${end}`;
}

/** A sentence about the purchases that are paid and not delivered; empty without any. */
function parkedText(parked: readonly Parked[]): string {
  if (parked.length === 0) return '';
  const count = parked.reduce((sum, one) => sum + one.count, 0);
  const cost = totals(parked.flatMap((one) => one.cost))
    .map(plainText)
    .join(' and ');
  return `${count} paid and not delivered${cost === '' ? '' : `, together ${cost}`}. `;
}

function totals(amounts: readonly Money[]): Money[] {
  const byCurrency = Map.groupBy(amounts, ({ currency }) => currency);
  return [...byCurrency.values()].map((same) => same.reduce((sum, one) => addMoney(sum, one)));
}

/** Circuits that are not closed, by the failure class of held work, pauses, and drift stops. */
export async function readGateConditions(db: Executor): Promise<Degradation[]> {
  const circuits = (await listCircuits(db)).filter(({ state }) => state !== 'closed');
  const pauses = await activePauses(db);
  const stops = await driftStopTexts(db);
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
    ...[true, false].flatMap((isDrift) => {
      const detail = stops.flatMap((stop) => (stop.isDrift === isDrift ? stop.text : [])).join(' ');
      return detail === '' ? [] : [{ condition: isDrift ? 'contract_drift' : 'first_delivery_awaited', detail }];
    }),
  ];
}
