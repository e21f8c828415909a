import { randomBytes } from 'node:crypto';
import { allOperations } from '#api/app.ts';
import { createApiParts } from '#api/composition.ts';
import type { Operation } from '#api/http/operation.ts';
import { productEnvironments } from '#cli/start/environment.ts';
import { readApiConfig } from '#config/config.ts';

/** Created with configuration that connects to nothing. */
export async function apiOperations(): Promise<readonly Operation[]> {
  const ports = { api: 3000, worker: 0, simulator: 4000, temporal: 0, temporalUi: 0, codec: 0, postgres: 0 };
  const { api } = productEnvironments(
    { ports, databaseUrl: 'postgres://nobody@127.0.0.1:1/none', temporalAddress: '127.0.0.1:1', simulatorData: '' },
    {
      encryption_keys: `none:${randomBytes(32).toString('base64')}`,
      webhook_secret: 'whsec_of_the_description',
      postgres_password: '',
      simulator_password: 'none',
    },
    {},
  );
  const parts = createApiParts(readApiConfig(api));
  await parts.close();
  return allOperations(parts.dependencies);
}
