/**
 * The lifecycles of a webhook delivery and of a webhook endpoint as tables. `webhook-delivery.ts` decides which event a
 * try is.
 */
import type { DeliveryState, DisabledReason } from '#domain/events/webhook-delivery.ts';

/** What can happen to a delivery. */
export const DELIVERY_EVENTS = {
  queued: 'Its event was published, or a replay was requested.',
  arrived: 'A try was answered with a 2xx.',
  missed: 'A try failed, and there is time for another.',
  given_up: 'A try failed and was the last, its event was deleted, or its endpoint gets no more events.',
} as const;

export type DeliveryEvent = keyof typeof DELIVERY_EVENTS;

/** The next state by event and present state. Every pair has a decision; `unchanged`: the event comes too late. */
export const DELIVERY_LIFECYCLE = {
  queued: { pending: 'pending', delivered: 'pending', failed: 'pending' },
  // A delivery stays delivered, also when a later try overtook the one that arrived.
  arrived: { pending: 'delivered', delivered: 'delivered', failed: 'delivered' },
  missed: { pending: 'pending', delivered: 'unchanged', failed: 'unchanged' },
  given_up: { pending: 'failed', delivered: 'unchanged', failed: 'unchanged' },
} as const satisfies Record<DeliveryEvent, Record<DeliveryState, DeliveryState | 'unchanged'>>;

/** The event that a try is, by the state in which it leaves its delivery. */
export const EVENT_OF_TRY = { pending: 'missed', delivered: 'arrived', failed: 'given_up' } as const satisfies Record<
  DeliveryState,
  DeliveryEvent
>;

/** The states of an endpoint: enabled, disabled for a reason, or deleted. */
export const ENDPOINT_STATES = ['enabled', 'request', 'gone', 'failing', 'deleted'] as const satisfies readonly (
  | DisabledReason
  | 'enabled'
  | 'deleted'
)[];
export type EndpointState = (typeof ENDPOINT_STATES)[number];

/** What can happen to an endpoint. */
export const ENDPOINT_EVENTS = {
  disable: 'A caller disabled it. If we had disabled it before, the caller acknowledged that.',
  found_gone: 'It answered 410.',
  found_failing: 'It has failed for too long.',
  enable: 'A caller enabled it.',
  delete: 'A caller deleted it.',
} as const;

export type EndpointEvent = keyof typeof ENDPOINT_EVENTS;

/** As {@link DELIVERY_LIFECYCLE}. `forbidden`: a deleted endpoint is not found, so no caller can request it. */
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
