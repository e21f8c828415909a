import type { Executor } from '#db/connection/database.ts';
import { missedWebhooks } from '#db/queues/inbox.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { readAccountConditions } from '#fulfilment/readiness/account-conditions.ts';
import { readGateConditions } from '#fulfilment/readiness/gate-conditions.ts';
import { readRelayConditions } from '#fulfilment/readiness/relay-conditions.ts';
import { readWebhookConditions } from '#fulfilment/readiness/webhook-conditions.ts';
import type { Degradation } from '#telemetry/probes.ts';

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
