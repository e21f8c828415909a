import * as z from 'zod';
import { ourId } from '#api/fields/ids.ts';
import { instant, instantInput } from '#api/fields/instant.ts';
import { exampleDeliveryId, exampleSentEventId } from '#api/webhook-endpoints/webhook-delivery-schemas.ts';

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
    event_id: ourId('event', exampleSentEventId)
      .optional()
      .meta({ description: 'One event, also if the filter of the endpoint does not select it.' }),
    delivery_id: ourId('webhookDelivery', exampleDeliveryId).optional().meta({ description: 'One delivery.' }),
    since: instantInput.optional().meta({ description: 'Events since this time.' }),
    until: instantInput.optional().meta({ description: 'With `since`: events until this time.' }),
    which: z
      .enum(['all', 'failed', 'missed'])
      .optional()
      .meta({
        description:
          'With `since`: `all` events that its filter selects (default), finally `failed` ones, or ' +
          '`missed` ones: failed ones, and events that were ' +
          'never sent because the endpoint was disabled or did not exist yet.',
      }),
  })
  .refine(
    ({ event_id: eventId, delivery_id: deliveryId, since }) =>
      [eventId, deliveryId, since].filter((each) => each !== undefined).length === 1,
    {
      error: 'must contain exactly one of event_id, delivery_id and since',
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
    queued: z.int().meta({ description: 'Number of queued deliveries.' }),
    next_since: instant.nullable().meta({
      description: 'There were more than one call can queue: call again with this `since`. Null when all are queued.',
    }),
  })
  .meta({ id: 'WebhookReplayResult', example: { queued: 1 } });

/** Answer to a test. */
export const testOutput = replayOutput
  .extend({
    event_id: ourId('event', exampleSentEventId).meta({
      description: 'Id of the test event: its `webhook-id`, and the `event_id` of its delivery.',
    }),
  })
  .meta({ id: 'WebhookTestResult', example: { queued: 1 } });
