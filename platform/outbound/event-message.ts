import { standardWebhookHeaders } from '#crypto/webhook-signatures.ts';
import type { EventRow } from '#db/events/event-log.ts';
import type { EventData } from '#db/schema/events.ts';
import type { EventSubject, EventSubjectKind, EventType } from '#domain/events/event-types.ts';
import { KINDS } from '#domain/work/kinds.ts';

export interface EventEnvelope {
  readonly id: string;
  readonly type: EventType;
  readonly created_at: string;
  /** `href` is its path in the API. */
  readonly subject: EventSubject & { readonly href: string };
  readonly data: EventData;
}

const ADDRESSES: Readonly<Record<EventSubjectKind, (id: string) => string>> = {
  order: (id) => `${KINDS.order.path}/${id}`,
  topup: (id) => `${KINDS.topup.path}/${id}`,
  vpn_subscription: (id) => `${KINDS.vpn_subscription.path}/${id}`,
  cancellation: (id) => `${KINDS.cancellation.path}/${id}`,
  order_batch: (id) => `/v1/order-batches/${id}`,
  refund: (id) => `/v1/refunds/${id}`,
  esim: (id) => `/v1/esims/${id}`,
  package: (id) => `/v1/packages/${id}`,
  vpn_plan: (id) => `/v1/vpn/plans/${id}`,
  wallet: () => '/v1/wallet',
  webhook_endpoint: (id) => `/v1/webhook-endpoints/${id}`,
};

export function subjectPath({ kind, id }: EventSubject): string {
  return ADDRESSES[kind](id);
}

export const subjectKinds = Object.keys(ADDRESSES) as readonly EventSubjectKind[];

export function eventEnvelope({ id, type, occurredAt, subjectKind: kind, subjectId, data }: EventRow): EventEnvelope {
  return {
    id,
    type,
    created_at: occurredAt.toISOString(),
    subject: { kind, id: subjectId, href: subjectPath({ kind, id: subjectId }) },
    data,
  };
}

/** Adds the field `timestamp` of Standard Webhooks. The bytes are the same at every try. */
export function webhookBody(event: EventRow): Buffer {
  return envelopeBody(eventEnvelope(event));
}

/** As {@link webhookBody}, from the form of the feed. */
export function envelopeBody({
  type,
  created_at: timestamp,
  ...rest
}: Pick<EventEnvelope, 'id' | 'created_at'> & { readonly type: string }): Buffer {
  return Buffer.from(JSON.stringify({ type, timestamp, created_at: timestamp, ...rest }), 'utf8');
}

export function webhookHeaders(
  event: Pick<EventRow, 'id'>,
  body: Buffer,
  secrets: readonly string[],
  at: Date,
): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'reseller-fulfilment-webhooks/1',
    ...standardWebhookHeaders({ id: event.id, at, body, secrets }),
  };
}
