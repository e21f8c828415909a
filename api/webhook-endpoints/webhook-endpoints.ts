import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { createdByInQuery, idInPath, ourId } from '#api/fields/fields.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { pageOf, pageQuery, pageReply } from '#api/lists/lists.ts';
import { invalid, type Problem } from '#api/problems/problem.ts';
import {
  changeAndShow,
  endpointJson,
  endpointRequest,
  ENDPOINTS_PATH,
  requireEndpoint,
  webhookDeliveryOperation,
  webhookEndpointActions,
} from '#api/webhook-endpoints/webhook-endpoint-actions.ts';
import {
  createdEndpointOutput,
  endpointChange,
  endpointInput,
  type EndpointOutput,
  endpointOutput,
  rotatedSecretOutput,
  secretRotation,
} from '#api/webhook-endpoints/webhook-endpoint-schemas.ts';
import { listWebhookEndpoints } from '#db/events/webhook-endpoints.ts';
import {
  changeEndpoint,
  createEndpoint,
  removeEndpoint,
  rotateEndpointSecret,
} from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { endpointUrlProblem } from '#outbound/webhook-address.ts';

const params = idInPath('webhookEndpoint');

export function webhookEndpointOperations(dependencies: ApiDependencies): Operation[] {
  const { database, keyRing, endpointSecretOverlapMs, now } = dependencies;
  return [
    operation(`POST ${ENDPOINTS_PATH}`, {
      id: 'createWebhookEndpoint',
      summary: 'Create a webhook endpoint',
      description:
        'Deliveries are signed by Standard Webhooks with the `secret` of this answer, which no other call shows (a ' +
        'repetition with the same Idempotency-Key shows it again). They arrive at least once and in no particular ' +
        'order; docs/how-to/webhooks-out.md shows a receiver.',
      scope: 'webhook_endpoints:write',
      idempotent: true,
      body: endpointInput,
      answers: {
        201: jsonAnswer('The endpoint gets new events from now on.', createdEndpointOutput, {
          headers: { Location: 'Address of the endpoint.' },
        }),
      },
      problems: ['webhook_endpoint_limit'],
      handle: async (request) => {
        const { body, caller } = request;
        // Outside a transaction: a name server may be slow. A repetition gets its answer independent of the result.
        const problem = await urlProblem(dependencies, body.url);
        return answerOnce(dependencies, request, async (tx) => {
          if (problem !== undefined) throw problem;
          const { apiKeyId: actor, lineageId: apiKeyId, ownerId } = caller;
          const terms = { url: body.url, eventTypes: body.event_types, description: body.description ?? null };
          const wanted = { ...terms, apiKeyId, ownerId };
          const { row, secret } = await createEndpoint(tx, keyRing, wanted, { actor, now: new Date(now()) });
          const shown = { ...(await endpointJson(tx, row)), secret };
          return jsonReply(201, shown, { Location: `${ENDPOINTS_PATH}/${row.id}` });
        });
      },
    }),
    operation(`GET ${ENDPOINTS_PATH}`, {
      id: 'listWebhookEndpoints',
      summary: 'List webhook endpoints, newest first',
      scope: 'webhook_endpoints:read',
      query: z.strictObject({ created_by: createdByInQuery.optional(), ...pageQuery }),
      answers: { 200: jsonAnswer('A page of endpoints.', pageOf(endpointOutput, 'WebhookEndpointPage')) },
      handle: async ({ query, caller: { ownerId } }) => {
        const read = (at: { readonly limit: number; readonly after: string | undefined }) =>
          database.run(async (db) => {
            const rows = await listWebhookEndpoints(db, ownerId, { createdBy: query.created_by }, at);
            const shown: EndpointOutput[] = [];
            for (const row of rows) shown.push(await endpointJson(db, row));
            return shown;
          });
        return pageReply(query, CURSORS.webhookEndpoint, read, (shown) => shown);
      },
    }),
    operation(`GET ${ENDPOINTS_PATH}/{id}`, {
      id: 'getWebhookEndpoint',
      summary: 'Read a webhook endpoint and its state',
      scope: 'webhook_endpoints:read',
      params,
      answers: { 200: jsonAnswer('The endpoint.', endpointOutput) },
      handle: ({ params: { id }, caller }) =>
        database.run(async (db) => jsonReply(200, await endpointJson(db, await requireEndpoint(db, id, caller)))),
    }),
    operation(`PATCH ${ENDPOINTS_PATH}/{id}`, {
      id: 'updateWebhookEndpoint',
      summary: 'Change the address, the filter or the description of a webhook endpoint',
      description:
        'Omitted fields are not changed. Queued deliveries go to the new address, at once if the former one ' +
        'only failed.',
      scope: 'webhook_endpoints:write',
      params,
      body: endpointChange,
      answers: { 200: jsonAnswer('The endpoint.', endpointOutput) },
      handle: async ({ params: { id }, body, caller }) => {
        const problem = body.url === undefined ? undefined : await urlProblem(dependencies, body.url);
        if (problem !== undefined) throw problem;
        const { url, event_types: eventTypes, description } = body;
        return changeAndShow(dependencies, caller, id, (tx, request) =>
          changeEndpoint(tx, request, { url, eventTypes, description }),
        );
      },
    }),
    operation(`DELETE ${ENDPOINTS_PATH}/{id}`, {
      id: 'deleteWebhookEndpoint',
      summary: 'Delete a webhook endpoint',
      description: 'Nothing more is sent to it. Its secrets are deleted at once, and its log is no longer shown.',
      scope: 'webhook_endpoints:write',
      params,
      answers: {
        200: jsonAnswer(
          'It is gone.',
          z
            .strictObject({ id: ourId('webhookEndpoint'), deleted: z.literal(true) })
            .meta({ id: 'DeletedWebhookEndpoint' }),
        ),
      },
      handle: async ({ params: { id }, caller }) => {
        const request = endpointRequest(caller, id, now());
        await database.transaction((tx) => removeEndpoint(tx, request));
        return jsonReply(200, { id, deleted: true });
      },
    }),
    operation(`POST ${ENDPOINTS_PATH}/{id}/rotate-secret`, {
      id: 'rotateWebhookEndpointSecret',
      summary: 'Give a webhook endpoint a new secret',
      description:
        'During the overlap every delivery has a signature of each secret, so a receiver that knows either accepts ' +
        'it. The new secret is shown in this answer only.',
      scope: 'webhook_endpoints:write',
      idempotent: true,
      params,
      body: secretRotation,
      answers: { 200: jsonAnswer('The new secret.', rotatedSecretOutput) },
      handle: async (request) => {
        const { id } = request.params;
        const change = endpointRequest(request.caller, id, now());
        const { overlap_seconds: seconds } = request.body;
        const overlapMs = seconds === undefined ? endpointSecretOverlapMs : seconds * 1_000;
        return answerOnce(dependencies, request, async (tx) => {
          const { secret, until } = await rotateEndpointSecret(tx, keyRing, change, overlapMs);
          return jsonReply(200, { id, secret, former_signs_until: until.toISOString() });
        });
      },
    }),
    webhookDeliveryOperation(dependencies),
    ...webhookEndpointActions(dependencies),
  ];
}

async function urlProblem(
  { webhookTargets: { policy, lookup } }: ApiDependencies,
  url: string,
): Promise<Problem | undefined> {
  const message = await endpointUrlProblem(url, policy, lookup);
  return message === undefined ? undefined : invalid([{ in: 'body', field: 'url', message }]);
}
