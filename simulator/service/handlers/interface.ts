import type { Handlers } from '#simulator/service/call.ts';
import { jsonAnswer } from '#simulator/service/errors.ts';
import { describedService } from '#simulator/service/openapi.ts';
import { catalogueAnswer, pageFrom } from '#simulator/service/query.ts';
import { wirePublicPackage } from '#simulator/wire.ts';

type InterfaceEndpoint =
  | 'listPublicPackages'
  | 'getLatestUpdate'
  | 'getOpenApi'
  | 'createWebhookSecret'
  | 'rotateWebhookSecret';

/** Handlers about the interface: public listing, updates, OpenAPI document, webhook secret. */
export const INTERFACE_HANDLERS: Handlers<InterfaceEndpoint> = {
  listPublicPackages: ({ packages }, { query }) => catalogueAnswer(packages.list(), pageFrom(query), wirePublicPackage),

  getLatestUpdate: ({ releases }, { query }) => {
    return jsonAnswer(200, releases.latest(query['current_version'] ?? '', query['channel'] ?? ''));
  },

  getOpenApi: ({ dialect, shaper }, { environment }) => jsonAnswer(200, describedService(dialect, environment, shaper)),

  createWebhookSecret: ({ endpoints }, { environment }) => jsonAnswer(201, endpoints.createSecret(environment)),

  rotateWebhookSecret: ({ endpoints }, { environment }) => jsonAnswer(200, endpoints.rotateSecret(environment)),
};
