import { standardWebhookHeaders } from '#crypto/standard-webhooks.ts';
import type { EventRow } from '#db/events/event-log.ts';
import { eventEnvelope } from '#outbound/event-envelope.ts';

/** Product and version of the webhook format. */
const USER_AGENT = 'reseller-fulfilment-webhooks/1';

/**
 * The body of all deliveries of an event: its envelope, with the additional field `timestamp` of Standard Webhooks. The
 * same bytes at every try.
 */
export function webhookBody(event: EventRow): Buffer {
  const { type, created_at: timestamp, ...rest } = eventEnvelope(event);
  return Buffer.from(JSON.stringify({ type, timestamp, created_at: timestamp, ...rest }), 'utf8');
}

/** All headers of a try. @param secrets every secret that signs now. @param at time of the try. */
export function webhookHeaders(
  event: Pick<EventRow, 'id'>,
  body: Buffer,
  secrets: readonly string[],
  at: Date,
): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': USER_AGENT,
    ...standardWebhookHeaders({ id: event.id, at, body, secrets }),
  };
}
