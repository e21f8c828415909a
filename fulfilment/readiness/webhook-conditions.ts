import type { Executor } from '#db/connection/database.ts';
import { readRefusedPrefix } from '#db/service/webhook-secrets.ts';
import { describeRefusedPrefix } from '#domain/service/service-address.ts';
import type { Degradation } from '#telemetry/probes.ts';

/** Webhooks that were refused for their header prefix, for the readiness probe. */
export async function readWebhookConditions(db: Executor): Promise<Degradation[]> {
  const refused = await readRefusedPrefix(db);
  if (refused === undefined) return [];
  const { fact, advice } = describeRefusedPrefix(refused);
  return [{ condition: 'other_header_prefix', detail: `${fact} ${advice}` }];
}
