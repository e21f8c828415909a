/**
 * The lives of a webhook delivery and of a webhook endpoint as tables: what follows when something happens to them.
 * Which of it a try has brought about is judged in `webhook-delivery.ts`.
 */
import type { DeliveryState, DisabledReason } from '#domain/events/webhook-delivery.ts';

/** What can happen to a delivery. */
export const DELIVERY_EVENTS = {
  queued: 'Its event was published, or is to be sent once more.',
  arrived: 'A try was answered with a 2xx.',
  missed: 'A try failed, and there is time for another.',
  given_up: 'A try failed and was the last, its event is not kept any more, or its endpoint gets nothing more.',
} as const;

export type DeliveryEvent = keyof typeof DELIVERY_EVENTS;

/**
 * By what happens, and by the state that it finds. Every pair has a decision; `unchanged`: it comes too late to move
 * anything.
 */
export const DELIVERY_LIFECYCLE = {
  queued: { pending: 'pending', delivered: 'pending', failed: 'pending' },
  // What has arrived has arrived, also by a try that another has overtaken.
  arrived: { pending: 'delivered', delivered: 'delivered', failed: 'delivered' },
  missed: { pending: 'pending', delivered: 'unchanged', failed: 'unchanged' },
  given_up: { pending: 'failed', delivered: 'unchanged', failed: 'unchanged' },
} as const satisfies Record<DeliveryEvent, Record<DeliveryState, DeliveryState | 'unchanged'>>;

/** What a try has brought about, by the state that it leaves its delivery in. */
export const EVENT_OF_TRY = { pending: 'missed', delivered: 'arrived', failed: 'given_up' } as const satisfies Record<
  DeliveryState,
  DeliveryEvent
>;

/** The states of an endpoint: it gets events, is disabled for a reason, or is gone for good. */
export const ENDPOINT_STATES = ['enabled', 'request', 'gone', 'failing', 'deleted'] as const satisfies readonly (
  | DisabledReason
  | 'enabled'
  | 'deleted'
)[];
export type EndpointState = (typeof ENDPOINT_STATES)[number];

/** What can happen to an endpoint. */
export const ENDPOINT_EVENTS = {
  disable: 'A caller wants nothing sent to it; of one that we have disabled, the caller says so knowing it.',
  found_gone: 'It answered 410.',
  found_failing: 'It has failed for too long.',
  enable: 'A caller wants it to get events again.',
  delete: 'A caller does not want it any more.',
} as const;

export type EndpointEvent = keyof typeof ENDPOINT_EVENTS;

/** As {@link DELIVERY_LIFECYCLE}. `forbidden`: it is not found, so nobody can ask for it. */
export const ENDPOINT_LIFECYCLE = {
  disable: { enabled: 'request', request: 'unchanged', gone: 'request', failing: 'request', deleted: 'forbidden' },
  found_gone: { enabled: 'gone', request: 'unchanged', gone: 'unchanged', failing: 'unchanged', deleted: 'unchanged' },
  found_failing: {
    enabled: 'failing',
    request: 'unchanged',
    gone: 'unchanged',
    failing: 'unchanged',
    deleted: 'unchanged',
  },
  enable: { enabled: 'unchanged', request: 'enabled', gone: 'enabled', failing: 'enabled', deleted: 'forbidden' },
  delete: { enabled: 'deleted', request: 'deleted', gone: 'deleted', failing: 'deleted', deleted: 'forbidden' },
} as const satisfies Record<EndpointEvent, Record<EndpointState, EndpointState | 'unchanged' | 'forbidden'>>;
