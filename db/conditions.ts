import type { Executor } from '#db/database.ts';
import { readAccountConditions } from '#db/held-work.ts';
import { readWebhookConditions } from '#db/refused-header-prefixes.ts';
import type { Degradation } from '#telemetry/readiness.ts';

/** What readiness probes name as degraded: what holds purchases up, and what keeps the service's webhooks from us. */
export async function readConditions(db: Executor): Promise<Degradation[]> {
  return [...(await readAccountConditions(db)), ...(await readWebhookConditions(db))];
}
