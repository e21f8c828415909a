import type { Money } from '#domain/money.ts';
import type { ObservedOutcome } from '#domain/observation.ts';
import { EVENT_KINDS, eventEnvelope, orderEventData, type EventKind, type ServiceOrder } from '#upstream/contract.ts';
import { readJson } from '#upstream/json.ts';

/** What a quarantined delivery could not say. */
export const QUARANTINE_REASONS = {
  not_utf8: 'The body is not valid UTF-8.',
  not_json: 'The body is not JSON.',
  duplicate_key: 'The body names a field twice, so that it has no single meaning.',
  no_event: 'The signed body names no event.',
  unknown_kind: 'The event kind is not one of the specification.',
  header_disagrees: 'The event header, which is not signed, differs from the signed body.',
  unreadable_data: 'The data of the event lacks something that we need.',
  contradicts_itself: 'The event kind and the status in its data say different things.',
} as const satisfies Record<string, string>;

export type QuarantineReason = keyof typeof QUARANTINE_REASONS;

type OrderEventKind = Extract<EventKind, `order.${string}`>;

/** What an order event says. Its outcome is data for the transition table, not a fact yet. */
export interface OrderEvent {
  readonly kind: 'order';
  readonly event: OrderEventKind;
  readonly outcome: ObservedOutcome;
  readonly serviceOrderId: string;
  /** `external_order_id` as one of our attempts gave it. */
  readonly reference?: string;
  readonly serviceEsimId?: string;
  /** The amount charged to the reseller. */
  readonly charged?: Money;
}

/** What a webhook body is. Closed: every sequence of bytes is one of these. */
export type ParsedEvent =
  | OrderEvent
  | { readonly kind: 'ping'; readonly event: 'ping' }
  /** A kind of the specification that nothing here acts upon. */
  | { readonly kind: 'unsupported_event'; readonly event: EventKind }
  | {
      readonly kind: 'quarantine';
      readonly reason: QuarantineReason;
      /** The kind that the body names, where that much is certain. */
      readonly event?: EventKind;
    };

/**
 * Reads the body of a webhook whose signature was verified. Only the signed body says what happened; the header can
 * merely disagree with it.
 *
 * @param body the raw bytes, as received.
 * @param headerEvent value of the event header, if there was one.
 */
export function parseEvent(body: Uint8Array, headerEvent: string | undefined): ParsedEvent {
  const json = readJson(body);
  if (!json.ok) return { kind: 'quarantine', reason: json.reason };
  const name = nameOf(json.value);
  if (name === undefined) return { kind: 'quarantine', reason: 'no_event' };
  if (!isEventKind(name)) return { kind: 'quarantine', reason: 'unknown_kind' };
  if (headerEvent !== undefined && headerEvent !== name) {
    return { kind: 'quarantine', reason: 'header_disagrees', event: name };
  }
  if (name === 'ping') return { kind: 'ping', event: name };

  const outcome = outcomeOf(name);
  if (outcome === undefined) return { kind: 'unsupported_event', event: name };
  const envelope = eventEnvelope.safeParse(json.value);
  const order = envelope.success ? orderEventData.safeParse(envelope.data.data) : undefined;
  if (order === undefined || !order.success) return { kind: 'quarantine', reason: 'unreadable_data', event: name };
  if (order.data.status !== outcome.outcome) return { kind: 'quarantine', reason: 'contradicts_itself', event: name };
  return orderEvent(outcome, order.data);
}

function orderEvent(
  { event, outcome }: { event: OrderEventKind; outcome: ObservedOutcome },
  order: ServiceOrder,
): OrderEvent {
  const charged = chargeOf(order);
  return {
    kind: 'order',
    event,
    outcome,
    serviceOrderId: order.id,
    ...(mayBeOurs(order.external_order_id) ? { reference: order.external_order_id } : {}),
    ...(typeof order.esim_id === 'string' ? { serviceEsimId: order.esim_id } : {}),
    ...(charged === undefined ? {} : { charged }),
  };
}

/** A reference that no attempt can have given names nothing of ours; kept out of text columns and their indexes. */
function mayBeOurs(reference: string | null | undefined): reference is string {
  return typeof reference === 'string' && /^[\x21-\x7e]{1,128}$/.test(reference);
}

/** The amount that the service says it charged; undefined unless it names amount and currency. */
export function chargeOf(order: ServiceOrder): Money | undefined {
  const { price_for_reseller: amount, currency } = order;
  return typeof amount === 'string' && typeof currency === 'string' ? { amount, currency } : undefined;
}

function outcomeOf(event: EventKind): { event: OrderEventKind; outcome: ObservedOutcome } | undefined {
  switch (event) {
    case 'order.processing':
      return { event, outcome: 'processing' };
    case 'order.completed':
      return { event, outcome: 'completed' };
    case 'order.failed':
      return { event, outcome: 'failed' };
    default:
      return undefined;
  }
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'event')) return undefined;
  const { event } = value as { event: unknown };
  return typeof event === 'string' && event !== '' ? event : undefined;
}

function isEventKind(name: string): name is EventKind {
  return (EVENT_KINDS as readonly string[]).includes(name);
}
