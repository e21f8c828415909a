import { EVENT_KINDS, eventEnvelope, type EventKind } from '#upstream/contract.ts';
import { readEventData, type LifecycleEvent } from '#upstream/event-readings.ts';
import { readJson } from '#upstream/json.ts';

export {
  chargeOf,
  refundFacts,
  type CancellationEvent,
  type LifecycleEvent,
  type OrderEvent,
  type RefundEvent,
  type RefundFacts,
  type TopupEvent,
  type VpnSubscriptionEvent,
} from '#upstream/event-readings.ts';

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

/** What a webhook body is. Closed: every sequence of bytes is one of these. */
export type ParsedEvent =
  | LifecycleEvent
  | { readonly kind: 'ping'; readonly event: 'ping' }
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

  const envelope = eventEnvelope.safeParse(json.value);
  const reading = envelope.success ? readEventData(name, envelope.data.data) : 'unreadable_data';
  return typeof reading === 'string' ? { kind: 'quarantine', reason: reading, event: name } : reading;
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'event')) return undefined;
  const { event } = value as { event: unknown };
  return typeof event === 'string' && event !== '' ? event : undefined;
}

function isEventKind(name: string): name is EventKind {
  return (EVENT_KINDS as readonly string[]).includes(name);
}
