import { and, count, eq, inArray } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { missedWebhooks } from '#db/queues/inbox.ts';
import { LAGGING_QUEUES, relayLag } from '#db/queues/relay-queues.ts';
import { readRefusedPrefix } from '#db/service/webhook-secrets.ts';
import { workTable } from '#db/work/rows.ts';
import { circuitSentence } from '#domain/gate/circuit.ts';
import { hasDrift, driftStopSentences } from '#domain/gate/drift.ts';
import { pauseScope } from '#domain/gate/purchase-gate.ts';
import { plainText, sumByCurrency } from '#domain/money/money.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { RELAY_POLICY } from '#domain/policy/relay-policy.ts';
import { describeRefusedPrefix } from '#domain/service/service-address.ts';
import { counted } from '#domain/text.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { listCircuits } from '#fulfilment/gate/circuits.ts';
import { driftStopsInForce } from '#fulfilment/gate/drift-stop.ts';
import { parkedPurchases } from '#fulfilment/gate/overview.ts';
import { activePauses } from '#fulfilment/gate/pauses.ts';
import type { Degradation } from '#telemetry/probes.ts';

/** Each condition appears once. */
export async function readConditions(db: Executor): Promise<Degradation[]> {
  const all = [
    ...(await readAccountConditions(db)),
    ...(await readGateConditions(db)),
    ...(await readWebhookConditions(db)),
    ...(await readRelayConditions(db)),
  ];
  return all.filter(({ condition }, index) => all.findIndex((other) => other.condition === condition) === index);
}

/** Problems of our account block every purchase until someone corrects them at the service. */
async function readAccountConditions(db: Executor): Promise<Degradation[]> {
  const conditions = ['not_approved', 'unauthorized', 'insufficient_balance'] as const;
  const held = await countHeldWork(db, conditions);
  return conditions.flatMap((condition) => {
    const number = held.get(condition);
    if (number === undefined) return [];
    const { meaning, advice } = FAILURE_CLASSES[condition];
    return [{ condition, detail: `${meaning} ${heldPurchases(number)} for it. ${advice}` }];
  });
}

/** By failure class. Shows the state of the service without a call to it. */
export async function countHeldWork(
  db: Executor,
  classes: readonly FailureClass[],
): Promise<ReadonlyMap<FailureClass, number>> {
  const counts = new Map<FailureClass, number>();
  for (const kind of WORK_KINDS) {
    const table = workTable(kind);
    const rows = await db
      .select({ failure: table.failureClass, held: count() })
      .from(table)
      .where(and(eq(table.status, 'held'), inArray(table.failureClass, [...classes])))
      .groupBy(table.failureClass);
    for (const { failure, held } of rows) {
      if (failure !== null) counts.set(failure, (counts.get(failure) ?? 0) + held);
    }
  }
  return counts;
}

/** `1 purchase is held`, `2 purchases are held`. */
export function heldPurchases(count: number): string {
  return counted(count, 'purchase is held', 'purchases are held');
}

export async function readGateConditions(db: Executor): Promise<Degradation[]> {
  const circuits = (await listCircuits(db)).filter(({ state }) => state !== 'closed');
  const pauses = (await activePauses(db)).map(
    ({ id, kind, failureClass }) => `${pauseScope(kind, failureClass)} (${id})`,
  );
  const stops = await driftStopTexts(db);
  const textOf = (isDrift: boolean) => stops.flatMap((stop) => (stop.isDrift === isDrift ? stop.text : [])).join(' ');
  return [
    ...circuits.map(({ name, state }) => ({
      condition: name,
      detail: `${circuitSentence(name)} The circuit ${name} is ${state}: see \`npx reseller gate show\`.`,
    })),
    {
      condition: 'purchases_paused',
      detail: pauses.length === 0 ? '' : `Purchases are paused: ${pauses.join('; ')}. See \`npx reseller gate show\`.`,
    },
    { condition: 'contract_drift', detail: textOf(true) },
    { condition: 'first_delivery_awaited', detail: textOf(false) },
  ].filter(({ detail }) => detail !== '');
}

export async function driftStopTexts(db: Executor): Promise<{ readonly text: string; readonly isDrift: boolean }[]> {
  const driftStops = await driftStopsInForce(db);
  const parked = driftStops.length === 0 ? [] : await parkedPurchases(db);
  return driftStops.map((driftStop) => {
    const { stops, end } = driftStopSentences(driftStop.kind, driftStop);
    const last = driftStop.detail === null ? '' : ` Last: ${driftStop.detail}`;
    const own = parked.filter(({ kind }) => kind === driftStop.kind);
    const count = own.reduce((sum, one) => sum + one.count, 0);
    const cost = sumByCurrency(own.flatMap((one) => one.cost))
      .map(plainText)
      .join(' and ');
    const paid = count === 0 ? '' : `${count} paid and not delivered${cost === '' ? '' : `, together ${cost}`}. `;
    return {
      text: `${stops}${last} Since ${driftStop.since?.toISOString()}. ${paid}${end}`,
      isDrift: hasDrift(driftStop),
    };
  });
}

/** Webhooks that were refused for their header prefix, or that do not arrive. */
async function readWebhookConditions(db: Executor): Promise<Degradation[]> {
  const conditions: Degradation[] = [];
  const refused = await readRefusedPrefix(db);
  if (refused !== undefined) {
    const { fact, advice } = describeRefusedPrefix(refused);
    conditions.push({ condition: 'other_header_prefix', detail: `${fact} ${advice}` });
  }
  // The default: the worker's setting only decides when its alert is raised.
  const { webhookSilence } = DEFAULT_POLICY;
  const missed = await missedWebhooks(db, webhookSilence, new Date());
  if (missed >= webhookSilence.reports) {
    const detail =
      `Look-ups found ${missed} or more status updates, and no webhook has arrived since. ` +
      'See the alert WebhooksSilent in docs/runbook.md.';
    conditions.push({ condition: 'webhooks_missed', detail });
  }
  return conditions;
}

const CONSEQUENCES = {
  outbox: 'orders are accepted and not begun',
  inbox: 'reports of the service are stored and not passed on',
  events: 'events and webhooks to internal systems do not go out',
} as const satisfies Record<(typeof LAGGING_QUEUES)[number], string>;

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
