import * as z from 'zod';
import {
  createdBy,
  instant,
  instantInput,
  enumOf,
  meaningsOf,
  idInput,
  ourId,
  overlapSeconds,
  storable,
  TEXT_PATTERN,
} from '#api/fields/fields.ts';
import { COUNTED_DELIVERIES } from '#db/events/webhook-deliveries.ts';
import { eventPatterns, eventTypes, isEventPattern } from '#domain/events/event-types.ts';
import { DELIVERY_STATES, DISABLED_REASONS, TRY_FAILURES } from '#domain/events/webhook-delivery.ts';

const eventPattern = z
  .string()
  .refine(isEventPattern, 'must be `*`, a type such as order.completed, or all of one kind such as order.*')
  .meta({
    id: 'EventPattern',
    description: 'A type, all of one kind (`order.*`), or all (`*`).',
    example: 'order.*',
    override: { enum: [...eventPatterns] },
  });

const eventTypesField = z.array(eventPattern).min(1).max(100);

const url = z
  .string()
  .max(2_048)
  .regex(/^[!-~\u0080-\uffff]*$/, 'must have no control characters and no spaces')
  .meta({
    description:
      'Address for events: `https://`, without user name, password and fragment, at a public address. Networks that ' +
      'WEBHOOK_ALLOWED_ADDRESSES names may be private and use `http://`. Checked again at every delivery.',
    example: 'https://shop.example.com/webhooks/reseller',
    override: { format: 'uri' },
  });

const description = z
  .string()
  .min(1)
  .max(200)
  .check(storable)
  .nullable()
  .meta({
    description: 'Free text for readers.',
    example: 'Order status of the shop',
    override: { pattern: TEXT_PATTERN },
  });

export const endpointInput = z
  .strictObject({ url, event_types: eventTypesField.default(['*']), description: description.optional() })
  .meta({ id: 'WebhookEndpointInput' });

export const endpointChange = z
  .strictObject({ url: url.optional(), event_types: eventTypesField.optional(), description: description.optional() })
  .meta({ id: 'WebhookEndpointChange' });

const endpointFields = {
  id: ourId('webhookEndpoint'),
  url,
  event_types: z.array(eventPattern),
  description,
  status: z
    .enum(['enabled', 'disabled'])
    .meta({ description: '`disabled`: nothing is sent; `disabled_reason` tells why.' }),
  disabled_reason: enumOf(DISABLED_REASONS)
    .nullable()
    .meta({ description: meaningsOf(DISABLED_REASONS) }),
  disabled_at: instant.nullable(),
  missed_since: instant.nullable().meta({
    description:
      'While it is disabled: time of the oldest missed event. `/enable` can replay from there; with more than 10,000 ' +
      'events it then shows the start of those that are not queued yet, and is null when all are queued.',
  }),
  failing_since: instant.nullable().meta({ description: 'Time of the first of the failed tries in a row.' }),
  failures: z.int().meta({ description: 'Number of failed tries in a row, over all deliveries.' }),
  last_failure: z.string().nullable().meta({ description: 'Result of the last of them, as text.' }),
  last_delivered_at: instant.nullable(),
  pending_deliveries: z.int().meta({
    description: `Number of deliveries that wait for their (next) try. ${COUNTED_DELIVERIES}: that many or more.`,
  }),
  own_work_only: z.boolean().meta({
    description: 'True when a key limited to its own work created it: it gets events about that work only.',
  }),
  created_by: createdBy,
  created_at: instant,
  updated_at: instant,
};

export const endpointOutput = z.strictObject(endpointFields).meta({
  id: 'WebhookEndpoint',
  example: {
    event_types: ['order.*', 'wallet.balance_low'],
    last_delivered_at: '2030-01-31T12:00:00.000Z',
    created_at: '2030-01-31T11:00:00.000Z',
    updated_at: '2030-01-31T11:00:00.000Z',
  },
});

export type EndpointOutput = z.input<typeof endpointOutput>;

const secret = z.string().meta({
  description: 'Signs every delivery; only this answer shows it. Store it for the receiver.',
  example: 'whsec_0Ya0a2Hc1Yy1m3T0z0m0Yk1uQm5oR2d4a1Z2d0p5bTQ=',
});

export const createdEndpointOutput = z
  .strictObject({ ...endpointFields, secret })
  .meta({ id: 'CreatedWebhookEndpoint' });

export const rotatedSecretOutput = z
  .strictObject({
    id: ourId('webhookEndpoint'),
    secret,
    former_signs_until: instant.meta({
      description: 'Until this time deliveries are signed with the former secret too.',
    }),
  })
  .meta({ id: 'RotatedWebhookSecret', example: { former_signs_until: '2030-02-01T12:00:00.000Z' } });

export const secretRotation = z
  .strictObject({
    overlap_seconds: overlapSeconds(
      'How long former secrets sign in addition to the new one; default: the configured overlap. 0 after one ' +
        'has leaked.',
      86_400,
    ),
  })
  .meta({ id: 'EndpointSecretRotation' });

export const deliveryState = z.enum(DELIVERY_STATES).meta({
  description:
    '`pending`: waits for its (next) try. `delivered`: was answered 2xx. `failed`: no more tries; replay it.',
});

export const deliveryOutput = z
  .strictObject({
    id: ourId('webhookDelivery'),
    endpoint_id: ourId('webhookEndpoint'),
    event_id: ourId('event').meta({ description: 'Sent as `webhook-id`: the same at every try.' }),
    event_type: z.enum(eventTypes).meta({ description: 'The type of the event, as in `GET /v1/events`.' }),
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
            failure: enumOf(TRY_FAILURES)
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

export const enableInput = z
  .strictObject({
    replay_missed: z
      .boolean()
      .default(false)
      .meta({ description: 'True: also send the events missed since `missed_since`.' }),
  })
  .meta({ id: 'WebhookEndpointEnabling' });

export const replayInput = z
  .strictObject({
    event_id: idInput('event')
      .optional()
      .meta({ description: 'One event, also if the filter of the endpoint does not select it.' }),
    delivery_id: idInput('webhookDelivery').optional().meta({ description: 'One delivery.' }),
    since: instantInput.optional().meta({ description: 'Events since this time.' }),
    until: instantInput.optional().meta({ description: 'With `since`: events until this time.' }),
    which: z
      .enum(['all', 'failed', 'missed'])
      .optional()
      .meta({
        description:
          'With `since`: `all` events that its filter selects (default), finally `failed` ones, or `missed` ones: ' +
          'failed ones, and events that were never sent because the endpoint was disabled or did not exist yet.',
      }),
  })
  .refine(
    ({ event_id: eventId, delivery_id: deliveryId, since }) =>
      [eventId, deliveryId, since].filter((each) => each !== undefined).length === 1,
    { error: 'must contain exactly one of event_id, delivery_id and since' },
  )
  .refine(({ since, until }) => since !== undefined || until === undefined, {
    path: ['until'],
    error: 'goes with since',
  })
  .refine(({ since, which }) => since !== undefined || which === undefined, {
    path: ['which'],
    error: 'goes with since',
  })
  .meta({ id: 'WebhookReplay' });

export const replayOutput = z
  .strictObject({
    queued: z.int().meta({ description: 'Number of queued deliveries.' }),
    next_since: instant.nullable().meta({
      description: 'There were more than one call can queue: call again with this `since`. Null when all are queued.',
    }),
  })
  .meta({ id: 'WebhookReplayResult', example: { queued: 1 } });

export const testOutput = replayOutput
  .extend({
    event_id: ourId('event').meta({
      description: 'Id of the test event: its `webhook-id`, and the `event_id` of its delivery.',
    }),
  })
  .meta({ id: 'WebhookTestResult', example: { queued: 1 } });
