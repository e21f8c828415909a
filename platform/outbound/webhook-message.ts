import { standardWebhookHeaders } from '#crypto/standard-webhooks.ts';
import type { EventRow } from '#db/events/event-log.ts';
import { type EventEnvelope, eventEnvelope } from '#outbound/event-envelope.ts';

/** Product and version of the webhook format. */
const USER_AGENT = 'reseller-fulfilment-webhooks/1';

/**
 * The body of all deliveries of an event: its envelope, with the additional field `timestamp` of Standard Webhooks. The
 * same bytes at every try.
 */
export function webhookBody(event: EventRow): Buffer {
  return envelopeBody(eventEnvelope(event));
}

/** {@link webhookBody} of an event in the form of the feed. */
export function envelopeBody({
  type,
  created_at: timestamp,
  ...rest
}: Pick<EventEnvelope, 'id' | 'created_at'> & { readonly type: string }): Buffer {
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
