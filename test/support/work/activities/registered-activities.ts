import { readWorkerConfig } from '#config/config.ts';
import { PRODUCT_ENVIRONMENT } from '#test/support/product-environment.ts';
import { createWorkerParts } from '#worker/composition.ts';

/** The names of all activities that the worker registers on its two task queues. */
export async function registeredActivities(): Promise<string[]> {
  const environment = { ...PRODUCT_ENVIRONMENT, SERVICE_WEBHOOK_SECRETS: 'whsec_not_used_here' };
  const parts = createWorkerParts(readWorkerConfig(environment));
  await parts.close();
  return Object.keys({ ...parts.activities, ...parts.webhookActivities });
}
