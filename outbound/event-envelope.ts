/** An event as internal systems see it: the same in the feed, in the stream and in webhooks. */
import type { EventRow } from '#db/events/events.ts';
import type { EventData } from '#db/schema/events.ts';
import type { EventSubject, EventSubjectKind, EventType } from '#domain/events/events.ts';
import { KINDS } from '#domain/work/kinds.ts';

export interface EventEnvelope {
  readonly id: string;
  readonly type: EventType;
  /** RFC 3339. When it happened. */
  readonly created_at: string;
  /** What it speaks of; `href` is where that is read. */
  readonly subject: EventSubject & { readonly href: string };
  readonly data: EventData;
}

/** Where our API shows what an event can speak of. */
const ADDRESSES = {
  order: (id) => `${KINDS.order.path}/${id}`,
  topup: (id) => `${KINDS.topup.path}/${id}`,
  vpn_subscription: (id) => `${KINDS.vpn_subscription.path}/${id}`,
  cancellation: (id) => `${KINDS.cancellation.path}/${id}`,
  refund: (id) => `/v1/refunds/${id}`,
  esim: (id) => `/v1/esims/${id}`,
  wallet: () => '/v1/wallet',
  webhook_endpoint: (id) => `/v1/webhook-endpoints/${id}`,
} as const satisfies Record<EventSubjectKind, (id: string) => string>;

/** Of what events can speak. */
export const subjectKinds = Object.keys(ADDRESSES) as readonly EventSubjectKind[];

/** Its one form; whoever sends an event sends exactly this. */
export function eventEnvelope({ id, type, occurredAt, subjectKind: kind, subjectId, data }: EventRow): EventEnvelope {
  return {
    id,
    type,
    created_at: occurredAt.toISOString(),
    subject: { kind, id: subjectId, href: ADDRESSES[kind](subjectId) },
    data,
  };
}
