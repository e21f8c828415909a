import * as z from 'zod';
import type { oas31, ZodOpenApiComponentsObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { eventOutput, eventShapes } from '#api/events/event-data.ts';
import { IDS } from '#api/fields/fields.ts';
import { exampleOf } from '#api/openapi/examples.ts';
import { envelopeBody } from '#outbound/event-message.ts';

const withTimestamp: oas31.SchemaObject = {
  type: 'object',
  properties: {
    timestamp: {
      type: 'string',
      format: 'date-time',
      description: 'Equals `created_at`, with the name of Standard Webhooks. RFC 3339.',
      example: '2030-01-31T12:00:00.000Z',
    },
  },
  required: ['timestamp'],
};

const anyEvent = z.looseObject({ id: z.string(), type: z.string(), created_at: z.string() });

/** A whole body. */
export function webhookExample(event: z.ZodType): unknown {
  return JSON.parse(envelopeBody(anyEvent.parse(exampleOf(event, 'output'))).toString('utf8'));
}

/** Consists of parts of answers and is described like them, open to new fields. */
export const webhookEventSchemas: NonNullable<ZodOpenApiComponentsObject['schemas']> = {
  // Generators combine objects, and not an object with a choice.
  ...Object.fromEntries(
    eventShapes.map((event) => [
      `Webhook${nameOf(event)}`,
      { allOf: [{ $ref: `#/components/schemas/${nameOf(event)}` }, withTimestamp] },
    ]),
  ),
  WebhookEvent: {
    description: 'An event in a webhook: the same bytes at every try.',
    oneOf: eventShapes.map((event) => ({ $ref: `#/components/schemas/Webhook${nameOf(event)}` })),
  },
};

function nameOf(schema: z.ZodType): string {
  const id = schema.meta()?.id;
  if (id === undefined) throw new Error('the schema of an event has no name');
  return id;
}

const headers = z.strictObject({
  'webhook-id': z.string().meta({
    description: 'Id of the event, the same at every try: ignore an id that you have processed.',
    example: IDS.event.example,
  }),
  'webhook-timestamp': z.string().meta({
    description: 'Time of this try, in Unix seconds: refuse one that is more than a few minutes old.',
    example: '1896091200',
  }),
  'webhook-signature': z.string().meta({
    description:
      'Signatures by Standard Webhooks, separated by spaces, one for each valid secret: `v1,` and the ' +
      'HMAC-SHA-256 of `{webhook-id}.{webhook-timestamp}.{body}` in Base64.',
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  }),
});

export function eventWebhooks(): ZodOpenApiPathsObject {
  return {
    event: {
      post: {
        operationId: 'receiveEvent',
        tags: ['Webhook endpoints'],
        summary: 'An event, sent to a webhook endpoint',
        description:
          'Sent for each event that the endpoint selects, in no particular order, and possibly more than once. ' +
          'Verify the signature over the received bytes, and answer within 15 seconds.',
        security: [],
        requestParams: { header: headers },
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/WebhookEvent' },
              example: webhookExample(eventOutput),
            },
          },
        },
        responses: {
          '2XX': { description: 'Delivered; the body of the answer is ignored.' },
          '410': { description: 'The endpoint is disabled at its own request.' },
          default: { description: 'Not delivered; the delivery is tried again.' },
        },
      },
    },
  };
}
