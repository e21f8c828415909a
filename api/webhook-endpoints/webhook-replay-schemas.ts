import * as z from 'zod';
import { ourId } from '#api/fields/ids.ts';
import { instant, instantInput } from '#api/fields/instant.ts';
import { exampleDeliveryId, exampleSentEventId } from '#api/webhook-endpoints/webhook-delivery-schemas.ts';

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
          'With `since`: `all` that its filter selects (when left out), what was `failed` for good, or what it ' +
          '`missed`: that, and what was ' +
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
    queued: z.int().meta({ description: 'Number of queued deliveries.' }),
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
