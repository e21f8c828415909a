import type { Environment } from '#config/environment.ts';
import { apiKeyMode, type ApiKeyMode } from '#crypto/generated-secrets.ts';
import type { Executor } from '#db/connection/database.ts';
import { stampedMode } from '#db/connection/installation.ts';

/** The mode of new keys: that of the service that the database belongs to; before its first use, of `SERVICE_MODE`. */
export async function keyMode(db: Executor, environment: Environment): Promise<ApiKeyMode> {
  return apiKeyMode((await stampedMode(db)) ?? environment['SERVICE_MODE']);
}
