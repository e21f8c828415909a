import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { eventOutput } from '#api/events/event-data.ts';
import { webhookExample } from '#api/webhook-endpoints/event-webhooks.ts';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import { eventTypes } from '#domain/events/event-types.ts';
import { envelopeBody, webhookHeaders } from '#outbound/event-message.ts';
import { apiDocument } from '#scripts/api/api-document.ts';

const document = await apiDocument();
const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, uri: true, email: true, date: true } });
ajv.addSchema({ $id: 'api', ...(document as object) });
const fits = (name: string, value: unknown): boolean =>
  ajv.validate({ $ref: `api#/components/schemas/${name}` }, value);

const sent = z
  .looseObject({ id: z.string(), created_at: z.string(), data: z.record(z.string(), z.unknown()) })
  .parse(webhookExample(eventOutput));

const webhook = z
  .object({
    webhooks: z.object({
      event: z.object({
        post: z.object({
          parameters: z.array(z.object({ name: z.string(), in: z.literal('header'), required: z.literal(true) })),
          requestBody: z.object({
            content: z.object({
              'application/json': z.object({ schema: z.object({ $ref: z.string() }), example: z.unknown() }),
            }),
          }),
        }),
      }),
    }),
  })
  .parse(document).webhooks.event.post;

describe('the description of events', () => {
  it('has every type, which selects the schema of its data', () => {
    const { Event: described } = z
      .object({
        components: z.object({
          schemas: z.object({
            Event: z.object({
              discriminator: z.object({ propertyName: z.literal('type'), mapping: z.record(z.string(), z.string()) }),
            }),
          }),
        }),
      })
      .parse(document).components.schemas;
    expect(Object.keys(described.discriminator.mapping).toSorted()).toEqual([...eventTypes].toSorted());
    expect(fits('Event', sent)).toBe(true);
    expect(fits('Event', { ...sent, type: 'esim.expiring' })).toBe(false);
    // A later version may have more fields.
    expect(fits('Event', { ...sent, data: { ...sent.data, further: 1 }, further: 1 })).toBe(true);
  });

  it('has webhooks with the body and the headers of real deliveries', () => {
    const name = webhook.requestBody.content['application/json'].schema.$ref.split('/').at(-1) ?? '';
    const { timestamp: _timestamp, ...without } = sent;
    expect([
      fits(name, sent),
      fits(name, webhook.requestBody.content['application/json'].example),
      fits(name, without),
    ]).toEqual([true, true, false]);
    const headers = Object.keys(
      webhookHeaders(sent, envelopeBody({ ...sent, type: 'order.completed' }), [generateWebhookSecret()], new Date(0)),
    );
    expect(webhook.parameters.map((parameter) => parameter.name)).toEqual(
      headers.filter((header) => header.startsWith('webhook-')),
    );
  });
});
