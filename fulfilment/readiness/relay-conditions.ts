import type { Executor } from '#db/connection/database.ts';
import { LAGGING_QUEUES, type LaggingQueue, relayLag } from '#db/queues/relay-queues.ts';
import { RELAY_POLICY } from '#domain/policy/relay-policy.ts';
import { counted } from '#domain/text.ts';
import type { Degradation } from '#telemetry/probes.ts';

const CONSEQUENCES: Readonly<Record<LaggingQueue, string>> = {
  outbox: 'orders are accepted and not begun',
  inbox: 'reports of the service are stored and not passed on',
  events: 'events and webhooks to internal systems do not go out',
};

/** Queues whose oldest row has waited longer than a healthy relay needs, for the readiness probe. */
export async function readRelayConditions(db: Executor): Promise<Degradation[]> {
  const lag = await relayLag(db);
  return LAGGING_QUEUES.filter((queue) => lag[queue] * 1_000 >= RELAY_POLICY.behindAfterMs).map((queue) => ({
    condition: `relay_behind_${queue}`,
    detail:
      `The oldest row of the ${queue} has waited for ${counted(Math.round(lag[queue]), 'second')}: ` +
      `${CONSEQUENCES[queue]}. ` +
      'Is a worker ready, and does Temporal answer? Nothing is lost; it catches up by itself.',
  }));
}
