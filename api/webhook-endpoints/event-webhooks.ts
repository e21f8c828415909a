/** Webhooks as the description of the API has them: what receivers get, and what their answers mean. */
import * as z from 'zod';
import type { ZodOpenApiComponentsObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { exampleEventId } from '#api/events/event-data.ts';
import { eventExample } from '#api/events/event-schemas.ts';
import { ENDPOINTS_TAG } from '#api/webhook-endpoints/webhook-endpoint-resource.ts';

/**
 * The body of a delivery, as `webhookBody` writes it. Made of what answers show, so it is described as they are, open
 * to more.
 */
export const webhookEventSchemas: NonNullable<ZodOpenApiComponentsObject['schemas']> = {
  WebhookEvent: {
    description: 'An event as webhooks bring it: the same bytes at every try.',
    allOf: [
      { $ref: '#/components/schemas/Event' },
      {
        type: 'object',
        properties: {
          timestamp: {
            type: 'string',
            format: 'date-time',
            description: 'When it happened: `created_at` under the name of Standard Webhooks. RFC 3339.',
            example: '2030-01-31T12:00:00.000Z',
          },
        },
        required: ['timestamp'],
      },
    ],
  },
};

const headers = z.strictObject({
  'webhook-id': z
    .string()
    .meta({ description: 'Id of the event, the same at every try: leave out what you know.', example: exampleEventId }),
  'webhook-timestamp': z.string().meta({
    description: 'When this try was made, in seconds since 1970: refuse what is older than a few minutes.',
    example: '1896091200',
  }),
  'webhook-signature': z.string().meta({
    description:
      'Signatures after Standard Webhooks, separated by spaces, one for each secret in force: `v1,` and the ' +
      'HMAC-SHA-256 of `{webhook-id}.{webhook-timestamp}.{body}` in Base64.',
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  }),
});

/** What is sent to webhook endpoints, for the `webhooks` of the description. */
export function eventWebhooks(): ZodOpenApiPathsObject {
  return {
    event: {
      post: {
        operationId: 'receiveEvent',
        tags: [ENDPOINTS_TAG],
        summary: 'An event, sent to a webhook endpoint',
        description:
          'Sent for each event that the endpoint selects, in no particular order, and maybe more than once. ' +
          'Verify the signature over the bytes as they came; answer within 15 seconds.',
        security: [],
        requestParams: { header: headers },
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/WebhookEvent' },
              example: { ...eventExample, timestamp: eventExample.created_at },
            },
          },
        },
        responses: {
          '2XX': { description: 'Delivered; the body of the answer is not needed.' },
          '410': { description: 'The endpoint is disabled: it wants no more.' },
          default: { description: 'Not delivered: it is tried again.' },
        },
      },
    },
  };
}
