import { refusedBeforeSending, type Calls, type OptionalResult } from '#upstream/client/calls.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import {
  updateQuery,
  type LatestUpdate,
  type OpenApiDescription,
  type WebhookSecretAnswer,
} from '#upstream/contract.ts';

/** Calls about the interface itself: update check, OpenAPI document, webhook secret. */
export interface InterfaceCalls {
  /**
   * Asks whether a newer storefront application exists.
   *
   * @param installed.currentVersion dotted numbers. Any other text fails without sending anything.
   * @param installed.channel release channel, such as `stable`; the service defines the channels.
   */
  getLatestUpdate(installed: { currentVersion: string; channel: string }): Promise<ServiceResult<LatestUpdate>>;
  /** Needs `openapi_download`. Downloads the OpenAPI document of the service. Checks only that it is one. */
  getOpenApi(): Promise<OptionalResult<OpenApiDescription>>;
  /**
   * Needs `webhook_secret`. Creates the secret that signs webhooks. The service shows it only in this answer: store it
   * before anything else. After a lost answer, rotate the secret.
   */
  createWebhookSecret(): Promise<OptionalResult<WebhookSecretAnswer>>;
  /** Needs `webhook_secret`. Replaces the secret. The service shows the new one only in this answer. */
  rotateWebhookSecret(): Promise<OptionalResult<WebhookSecretAnswer>>;
}

/** The calls about the service itself. */
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
