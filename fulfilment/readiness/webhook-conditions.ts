import type { Executor } from '#db/connection/database.ts';
import { readRefusedPrefix } from '#db/service/refused-header-prefixes.ts';
import { describeRefusedPrefix } from '#domain/service/header-prefix.ts';
import type { Degradation } from '#telemetry/readiness.ts';

/** Webhooks that were refused for their header prefix, for the readiness probe. */
export async function readWebhookConditions(db: Executor): Promise<Degradation[]> {
  const refused = await readRefusedPrefix(db);
  if (refused === undefined) return [];
  const { fact, advice } = describeRefusedPrefix(refused);
  return [{ condition: 'other_header_prefix', detail: `${fact} ${advice}` }];
}
