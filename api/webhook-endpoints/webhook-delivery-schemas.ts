import * as z from 'zod';
import { ourId } from '#api/fields/ids.ts';
import { instant } from '#api/fields/instant.ts';
import { exampleEndpointId } from '#api/webhook-endpoints/webhook-endpoint-schemas.ts';
import { eventTypes } from '#domain/events/event-types.ts';
import { DELIVERY_STATES, TRY_FAILURES, type TryFailure } from '#domain/events/webhook-delivery.ts';

export const exampleDeliveryId = 'wd_01JQ8ZC4N6P8QRSTVWXYZ01234';

export const exampleSentEventId = 'evt_01JQ8ZD5P7QRSTVWXYZ0123456';

const tryFailures = Object.keys(TRY_FAILURES) as [TryFailure, ...TryFailure[]];

export const deliveryState = z.enum(DELIVERY_STATES).meta({
  description:
    '`pending`: waits for its (next) try. `delivered`: was answered 2xx. `failed`: no more tries; replay it.',
});

export const deliveryOutput = z
  .strictObject({
    id: ourId('webhookDelivery', exampleDeliveryId),
    endpoint_id: ourId('webhookEndpoint', exampleEndpointId),
    event_id: ourId('event', exampleSentEventId).meta({ description: 'Sent as `webhook-id`: the same at every try.' }),
    event_type: z
      .enum(eventTypes as [string, ...string[]])
      .meta({ description: 'The type of the event, as in `GET /v1/events`.' }),
    status: deliveryState,
    tries: z.int().meta({ description: 'Number of tries.' }),
    next_try_at: instant.nullable().meta({
      description:
        'Time of the next try: not before the next send to the endpoint as a whole, if that has ' +
        'failed or requested a pause. Null when the delivery has ended.',
    }),
    created_at: instant,
    ended_at: instant.nullable(),
    log: z
      .array(
        z
          .strictObject({
            number: z.int(),
            at: instant,
            duration_ms: z.int(),
            status: z.int().nullable().meta({ description: 'HTTP status of the answer; null when there was none.' }),
            failure: z
              .enum(tryFailures)
              .nullable()
              .meta({
                description: `Why there was none. ${Object.entries(TRY_FAILURES)
                  .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
                  .join('. ')}.`,
              }),
            answer_excerpt: z
              .string()
              .nullable()
              .meta({ description: 'The first 1,024 bytes of the answer, as text.' }),
          })
          .meta({ id: 'WebhookTry' }),
      )
      .meta({ description: 'Its tries, oldest first; the last hundred.' }),
  })
  .meta({
    id: 'WebhookDelivery',
    example: {
      event_type: 'order.completed',
      status: 'delivered',
      tries: 2,
      ended_at: '2030-01-31T12:00:06.000Z',
      log: [
        {
          number: 1,
          at: '2030-01-31T12:00:00.100Z',
          duration_ms: 41,
          status: 503,
          failure: null,
          answer_excerpt: 'restarting',
        },
        {
          number: 2,
          at: '2030-01-31T12:00:05.900Z',
          duration_ms: 38,
          status: 204,
          failure: null,
          answer_excerpt: null,
        },
      ],
    },
  });

export type DeliveryOutput = z.input<typeof deliveryOutput>;
