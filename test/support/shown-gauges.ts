import type { Database } from '#db/connection/database.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { databaseGauges } from '#worker/gauges.ts';

/** The page of metrics with the gauges that a worker reads from its database at this time. */
export async function shownGauges(database: Database, now: number): Promise<string> {
  const { webhookSilence } = DEFAULT_POLICY;
  const metrics = createMetrics({ processMetrics: false });
  await databaseGauges(database, metrics, { webhookSilence, now: () => now })();
  return (await metrics.render()).body;
}
