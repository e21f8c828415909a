import { refusedBeforeSending, type Calls, type OptionalResult } from '#upstream/client/calls.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import {
  updateQuery,
  type LatestUpdate,
  type OpenApiDescription,
  type WebhookSecretAnswer,
} from '#upstream/contract.ts';

/** What is about the interface itself. */
export interface InterfaceCalls {
  /**
   * Asks whether there is a newer storefront application.
   *
   * @param installed.currentVersion dotted numbers; anything else is a failure, and nothing is sent.
   * @param installed.channel release channel, such as `stable`; the service decides which there are.
   */
  getLatestUpdate(installed: { currentVersion: string; channel: string }): Promise<ServiceResult<LatestUpdate>>;
  /** Needs `openapi_download`. The service's own OpenAPI document, unchecked beyond being one. */
  getOpenApi(): Promise<OptionalResult<OpenApiDescription>>;
  /**
   * Needs `webhook_secret`. Makes the secret that signs webhooks. The answer is the only place where it is ever shown:
   * store it before anything else. After a lost answer, rotate.
   */
  createWebhookSecret(): Promise<OptionalResult<WebhookSecretAnswer>>;
  /** Needs `webhook_secret`. Replaces the secret; shown once, as above. */
  rotateWebhookSecret(): Promise<OptionalResult<WebhookSecretAnswer>>;
}

export function interfaceCalls(calls: Calls): InterfaceCalls {
  return {
    getLatestUpdate: async ({ currentVersion, channel }) => {
      const query = updateQuery.safeParse({ current_version: currentVersion, channel });
      if (query.success) return await calls.one('getLatestUpdate', { query: query.data });
      const fields = [...new Set(query.error.issues.map((issue) => issue.path.join('.')))].join(' and ');
      return refusedBeforeSending(`The update check does not take this ${fields} (a version is dotted numbers)`);
    },
    getOpenApi: async () => await calls.optional('getOpenApi', {}),
    createWebhookSecret: async () => await calls.optional('createWebhookSecret', {}),
    rotateWebhookSecret: async () => await calls.optional('rotateWebhookSecret', {}),
  };
}
