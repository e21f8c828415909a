import type { Executor } from '#db/connection/database.ts';
import { LAGGING_QUEUES, type LaggingQueue, relayLag } from '#db/queues/relay-lag.ts';
import { missedWebhooks } from '#db/queues/webhook-arrival.ts';
import { readRefusedPrefix } from '#db/service/refused-header-prefixes.ts';
import { countHeldWork } from '#db/work/held-work.ts';
import { counted } from '#domain/counted.ts';
import { circuitSentence } from '#domain/gate/circuit.ts';
import { hasDrift, lineTexts } from '#domain/gate/drift.ts';
import { pauseScope } from '#domain/gate/purchase-gate.ts';
import { addMoney, plainText, type Money } from '#domain/money/money.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { RELAY_POLICY } from '#domain/policy/relay-policy.ts';
import { describeRefusedPrefix } from '#domain/service/header-prefix.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import { listCircuits } from '#fulfilment/gate/circuits.ts';
import { stoppedLines, type LineRow } from '#fulfilment/gate/line.ts';
import { parkedPurchases, type Parked } from '#fulfilment/gate/overview.ts';
import { activePauses, type PauseRow } from '#fulfilment/gate/pauses.ts';
import type { Degradation } from '#telemetry/readiness.ts';

/**
 * Everything that the readiness probe names as degraded: what holds purchases, what keeps webhooks of the service away,
 * and queues of the relay that are behind. Each condition appears once.
 */
export async function readConditions(db: Executor): Promise<Degradation[]> {
  const all = [
    ...(await readAccountConditions(db)),
    ...(await readGateConditions(db)),
    ...(await readWebhookConditions(db)),
    ...(await readMissedWebhooks(db)),
    ...(await readRelayConditions(db)),
  ];
  return all.filter(({ condition }, index) => all.findIndex((other) => other.condition === condition) === index);
}

/** The default: the worker's setting only decides when its alert is raised. */
const { webhookSilence } = DEFAULT_POLICY;

async function readMissedWebhooks(db: Executor): Promise<Degradation[]> {
  const missed = await missedWebhooks(db, webhookSilence, new Date());
  if (missed < webhookSilence.reports) return [];
  const detail =
    `Look-ups found ${missed} or more status updates, and no webhook has arrived since. ` +
    'See the alert WebhooksSilent in docs/runbook.md.';
  return [{ condition: 'webhooks_missed', detail }];
}

/** Failure classes about our account. They block every purchase until someone corrects them at the service. */
const ACCOUNT_CONDITIONS = [
  'not_approved',
  'unauthorized',
  'insufficient_balance',
] as const satisfies readonly FailureClass[];

/** Account problems that hold purchases, for the readiness probe; each with its advice. */
async function readAccountConditions(db: Executor): Promise<Degradation[]> {
  const held = await countHeldWork(db, ACCOUNT_CONDITIONS);
  return ACCOUNT_CONDITIONS.flatMap((condition) => {
    const count = held.get(condition);
    if (count === undefined) return [];
    const { meaning, advice } = FAILURE_CLASSES[condition];
    return [{ condition, detail: `${meaning} ${heldPurchases(count)} for it. ${advice}` }];
  });
}

/** `1 purchase is held`, `2 purchases are held`. */
export function heldPurchases(count: number): string {
  return counted(count, 'purchase is held', 'purchases are held');
}

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
      condition: name,
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

const CONSEQUENCES: Readonly<Record<LaggingQueue, string>> = {
  outbox: 'orders are accepted and not begun',
  inbox: 'reports of the service are stored and not passed on',
  events: 'events and webhooks to internal systems do not go out',
};

/** Queues whose oldest row has waited longer than a healthy relay needs, for the readiness probe. */
async function readRelayConditions(db: Executor): Promise<Degradation[]> {
  const lag = await relayLag(db);
  return LAGGING_QUEUES.filter((queue) => lag[queue] * 1_000 >= RELAY_POLICY.behindAfterMs).map((queue) => ({
    condition: `relay_behind_${queue}`,
    detail:
      `The oldest row of the ${queue} has waited for ${counted(Math.round(lag[queue]), 'second')}: ` +
      `${CONSEQUENCES[queue]}. ` +
      'Is a worker ready, and does Temporal answer? Nothing is lost; it catches up by itself.',
  }));
}

/** Webhooks that were refused for their header prefix, for the readiness probe. */
async function readWebhookConditions(db: Executor): Promise<Degradation[]> {
  const refused = await readRefusedPrefix(db);
  if (refused === undefined) return [];
  const { fact, advice } = describeRefusedPrefix(refused);
  return [{ condition: 'other_header_prefix', detail: `${fact} ${advice}` }];
}
