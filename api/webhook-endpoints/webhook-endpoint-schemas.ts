/** Webhook endpoints and their deliveries as our API takes and shows them. */
import * as z from 'zod';
import { createdBy, exampleKeyId, instant, instantInput, meaningsOf, ourId, TEXT_PATTERN } from '#api/lists/fields.ts';
import { eventPatterns, isEventPattern } from '#domain/events/event-filter.ts';
import { eventTypes } from '#domain/events/events.ts';
import {
  DELIVERY_STATES,
  DISABLED_REASONS,
  TRY_FAILURES,
  type DisabledReason,
  type TryFailure,
} from '#domain/events/webhook-delivery.ts';
import { MAX_WEBHOOK_SECRET_OVERLAP_MS } from '#domain/policy.ts';

export const exampleEndpointId = 'we_01JQ8ZB3M5N7P9QRSTVWXYZ012';
export const exampleDeliveryId = 'wd_01JQ8ZC4N6P8QRSTVWXYZ01234';
export const exampleSentEventId = 'evt_01JQ8ZD5P7QRSTVWXYZ0123456';
const exampleSecret = 'whsec_0Ya0a2Hc1Yy1m3T0z0m0Yk1uQm5oR2d4a1Z2d0p5bTQ=';

const MAX_PATTERNS = 100;
const eventPattern = z
  .string()
  .refine(isEventPattern, 'must be `*`, a type such as order.completed, or all of one kind such as order.*')
  .meta({
    id: 'EventPattern',
    description: 'A type, all of one kind (`order.*`), or all (`*`).',
    example: 'order.*',
    override: { enum: [...eventPatterns] },
  });
const eventTypesField = z.array(eventPattern).min(1).max(MAX_PATTERNS);
const url = z
  .string()
  .max(2_048)
  .regex(/^[!-~\u0080-\uffff]*$/, 'must have no control characters and no spaces')
  .meta({
    description:
      'Where events are sent: `https://`, no user name or password in it, no fragment, and a public address. Networks that ' +
      'WEBHOOK_ALLOWED_ADDRESSES names may be private, and be reached by `http://`. Judged again at every delivery.',
    example: 'https://shop.example.com/webhooks/reseller',
    override: { format: 'uri' },
  });
const description = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), { message: 'must be well-formed text without NUL' })
  .nullable()
  .meta({ description: 'For people.', example: 'Order status of the shop', override: { pattern: TEXT_PATTERN } });

export const endpointInput = z
  .strictObject({ url, event_types: eventTypesField.default(['*']), description: description.optional() })
  .meta({ id: 'WebhookEndpointInput' });

export const endpointChange = z
  .strictObject({ url: url.optional(), event_types: eventTypesField.optional(), description: description.optional() })
  .meta({ id: 'WebhookEndpointChange' });

const disabledReasons = Object.keys(DISABLED_REASONS) as [DisabledReason, ...DisabledReason[]];
const tryFailures = Object.keys(TRY_FAILURES) as [TryFailure, ...TryFailure[]];

const endpointFields = {
  id: ourId('webhookEndpoint', exampleEndpointId),
  url,
  event_types: z.array(eventPattern),
  description,
  status: z.enum(['enabled', 'disabled']),
  disabled_reason: z
    .enum(disabledReasons)
    .nullable()
    .meta({ description: meaningsOf(DISABLED_REASONS) }),
  disabled_at: instant.nullable(),
  missed_since: instant.nullable().meta({
    description:
      'While it is disabled: when the oldest event happened that it has missed. `/enable` can replay from there; of more than 10,000 events it then ' +
      'says from when on they are not queued yet, and is null again once all are.',
  }),
  failing_since: instant.nullable().meta({ description: 'When the first of the tries was that have failed in a row.' }),
  failures: z.int().meta({ description: 'Tries in a row that failed, over all deliveries.' }),
  last_failure: z.string().nullable().meta({ description: 'What came of the last of them, in words.' }),
  last_delivered_at: instant.nullable(),
  own_work_only: z
    .boolean()
    .meta({ description: 'True when it was made by a key that is limited to its own work: it is told of that alone.' }),
  created_by: createdBy,
  created_at: instant,
  updated_at: instant,
};

export const endpointOutput = z.strictObject(endpointFields).meta({ id: 'WebhookEndpoint' });
export type EndpointOutput = z.input<typeof endpointOutput>;

const secret = z.string().meta({
  description: 'Signs every delivery; shown in this answer and in no other. Keep it where the receiver reads it.',
  example: exampleSecret,
});

export const createdEndpointOutput = z
  .strictObject({ ...endpointFields, secret })
  .meta({ id: 'CreatedWebhookEndpoint' });

export const rotatedSecretOutput = z
  .strictObject({
    id: ourId('webhookEndpoint', exampleEndpointId),
    secret,
    former_signs_until: instant.meta({ description: 'Until then deliveries are signed with the former secret too.' }),
  })
  .meta({ id: 'RotatedWebhookSecret' });

export const secretRotation = z
  .strictObject({
    overlap_seconds: z
      .int({ error: 'must be a whole number of seconds' })
      .min(0)
      .max(MAX_WEBHOOK_SECRET_OVERLAP_MS / 1_000)
      .optional()
      .meta({
        description:
          'How long former secrets sign beside the new one; as the configuration says when left out. 0 after one has leaked.',
        example: 86_400,
      }),
  })
  .meta({ id: 'EndpointSecretRotation' });

export const enableInput = z
  .strictObject({
    replay_missed: z
      .boolean()
      .default(false)
      .meta({ description: 'True to have sent what it missed since `missed_since`.' }),
  })
  .meta({ id: 'WebhookEndpointEnabling' });

export const replayInput = z
  .strictObject({
    event_id: ourId('event', exampleSentEventId)
      .optional()
      .meta({ description: 'One event, whatever the filter of the endpoint says.' }),
    delivery_id: ourId('webhookDelivery', exampleDeliveryId).optional().meta({ description: 'One delivery.' }),
    since: instantInput.optional().meta({ description: 'Events that happened from then on.' }),
    until: instantInput.optional().meta({ description: 'With `since`: events that happened up to then.' }),
    which: z
      .enum(['all', 'failed', 'missed'])
      .optional()
      .meta({
        description:
          'With `since`: `all` that its filter selects (when left out), what was `failed` for good, or what it `missed`: that, and what was ' +
          'never sent because it was disabled or not yet there.',
      }),
  })
  .refine(
    ({ event_id: eventId, delivery_id: deliveryId, since }) =>
      [eventId, deliveryId, since].filter((each) => each !== undefined).length === 1,
    {
      error: 'must name one of event_id, delivery_id and since',
    },
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
    queued: z.int().meta({ description: 'Deliveries that are on their way.' }),
    next_since: instant.nullable().meta({
      description: 'There were more than one call takes: call again with this `since`. Null when all are queued.',
    }),
  })
  .meta({ id: 'WebhookReplayResult' });

/** What came of asking for a test. */
export const testOutput = replayOutput
  .extend({
    event_id: ourId('event', exampleSentEventId).meta({
      description: 'Id of the event that is sent: its `webhook-id`, and the `event_id` of its delivery.',
    }),
  })
  .meta({ id: 'WebhookTestResult' });

export const deliveryState = z.enum(DELIVERY_STATES).meta({
  description: '`pending`: waits for its (next) try. `delivered`: was answered 2xx. `failed`: given up; replay it.',
});

export const deliveryOutput = z
  .strictObject({
    id: ourId('webhookDelivery', exampleDeliveryId),
    endpoint_id: ourId('webhookEndpoint', exampleEndpointId),
    event_id: ourId('event', exampleSentEventId).meta({ description: 'Sent as `webhook-id`: the same at every try.' }),
    event_type: z.enum(eventTypes as [string, ...string[]]),
    status: deliveryState,
    tries: z.int().meta({ description: 'How often it was tried.' }),
    next_try_at: instant.nullable().meta({
      description:
        'From when on it is tried (again): not before the endpoint as a whole gets something again, which has failed or asked for a pause. Null when it has ended.',
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
            status: z.int().nullable().meta({ description: 'HTTP status of the answer; null where there was none.' }),
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
  .meta({ id: 'WebhookDelivery' });
export type DeliveryOutput = z.input<typeof deliveryOutput>;

export const endpointExample: EndpointOutput = {
  id: exampleEndpointId,
  url: 'https://shop.example.com/webhooks/reseller',
  event_types: ['order.*', 'wallet.balance_low'],
  description: 'Order status of the shop',
  status: 'enabled',
  disabled_reason: null,
  disabled_at: null,
  missed_since: null,
  failing_since: null,
  failures: 0,
  last_failure: null,
  last_delivered_at: '2030-01-31T12:00:00.000Z',
  own_work_only: false,
  created_by: exampleKeyId,
  created_at: '2030-01-31T11:00:00.000Z',
  updated_at: '2030-01-31T11:00:00.000Z',
};

export const createdEndpointExample = { ...endpointExample, last_delivered_at: null, secret: exampleSecret };
export const rotatedSecretExample = {
  id: exampleEndpointId,
  secret: exampleSecret,
  former_signs_until: '2030-02-01T12:00:00.000Z',
};

export const deliveryExample: DeliveryOutput = {
  id: exampleDeliveryId,
  endpoint_id: exampleEndpointId,
  event_id: exampleSentEventId,
  event_type: 'order.completed',
  status: 'delivered',
  tries: 2,
  next_try_at: null,
  created_at: '2030-01-31T12:00:00.000Z',
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
    { number: 2, at: '2030-01-31T12:00:05.900Z', duration_ms: 38, status: 204, failure: null, answer_excerpt: null },
  ],
};
