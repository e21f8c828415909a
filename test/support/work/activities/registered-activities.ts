import { readWorkerConfig } from '#config/config.ts';
import { createWorkerParts } from '#worker/composition.ts';

/** The names of all activities that the worker registers on its two task queues. */
export async function registeredActivities(): Promise<string[]> {
  const parts = createWorkerParts(
    readWorkerConfig({
      DATABASE_URL: 'postgresql://reseller@127.0.0.1:1/reseller',
      ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
      SERVICE_BASE_URL: 'http://127.0.0.1:1/api/reseller/v1',
      SERVICE_EMAIL: 'shop@example.com',
      SERVICE_PASSWORD: 'secret',
      SERVICE_WEBHOOK_SECRETS: 'whsec_not_used_here',
    }),
  );
  await parts.close();
  return Object.keys({ ...parts.activities, ...parts.webhookActivities });
}
