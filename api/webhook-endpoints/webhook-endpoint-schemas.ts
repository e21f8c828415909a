/** Schemas of webhook endpoints and their deliveries. */
import * as z from 'zod';
import { createdBy, ourId } from '#api/fields/ids.ts';
import { instant } from '#api/fields/instant.ts';
import { meaningsOf } from '#api/fields/meanings.ts';
import { storable, TEXT_PATTERN } from '#api/fields/text.ts';
import { COUNTED_DELIVERIES } from '#db/events/webhook-delivery-queries.ts';
import { eventPatterns, isEventPattern } from '#domain/events/event-filter.ts';
import { DISABLED_REASONS, type DisabledReason } from '#domain/events/webhook-delivery.ts';
import { MAX_WEBHOOK_SECRET_OVERLAP_MS } from '#domain/policy/webhook-policy.ts';

export const exampleEndpointId = 'we_01JQ8ZB3M5N7P9QRSTVWXYZ012';

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

const disabledReasons = Object.keys(DISABLED_REASONS) as [DisabledReason, ...DisabledReason[]];

const endpointFields = {
  id: ourId('webhookEndpoint', exampleEndpointId),
  url,
  event_types: z.array(eventPattern),
  description,
  status: z
    .enum(['enabled', 'disabled'])
    .meta({ description: '`disabled`: nothing is sent; `disabled_reason` tells why.' }),
  disabled_reason: z
    .enum(disabledReasons)
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
  example: exampleSecret,
});

export const createdEndpointOutput = z
  .strictObject({ ...endpointFields, secret })
  .meta({ id: 'CreatedWebhookEndpoint' });

export const rotatedSecretOutput = z
  .strictObject({
    id: ourId('webhookEndpoint', exampleEndpointId),
    secret,
    former_signs_until: instant.meta({
      description: 'Until this time deliveries are signed with the former secret too.',
    }),
  })
  .meta({ id: 'RotatedWebhookSecret', example: { former_signs_until: '2030-02-01T12:00:00.000Z' } });

export const secretRotation = z
  .strictObject({
    overlap_seconds: z
      .int({ error: 'must be a whole number of seconds' })
      .min(0)
      .max(MAX_WEBHOOK_SECRET_OVERLAP_MS / 1_000)
      .optional()
      .meta({
        description:
          'How long former secrets sign in addition to the new one; default: the configured overlap. 0 after one ' +
          'has leaked.',
        example: 86_400,
      }),
  })
  .meta({ id: 'EndpointSecretRotation' });
