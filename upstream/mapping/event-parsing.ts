import { readServiceJson } from '#upstream/client/json.ts';
import { EVENT_KINDS, EVENT_NAME_FIELDS, eventEnvelope, type EventKind } from '#upstream/contract.ts';
import { inOurTerms, VARIANTS } from '#upstream/contract/variants.ts';
import { readEventData, type LifecycleEvent } from '#upstream/mapping/event-data.ts';
import { readRecord } from '#upstream/reading/record.ts';

export { chargeOf } from '#upstream/mapping/event-data.ts';

/** Why a delivery is quarantined. */
export const QUARANTINE_REASONS = {
  not_utf8: 'The body is not valid UTF-8.',
  not_json: 'The body is not JSON.',
  duplicate_key: 'The body names a field twice, so its meaning is ambiguous.',
  too_deep: 'The body is nested too deeply.',
  no_event: 'The signed body names no event.',
  unknown_kind: 'The event kind is not one of the specification.',
  unreadable_data: 'The data of the event lacks something that we need.',
  contradicts_itself: 'The event kind and the status in its data contradict each other.',
} as const satisfies Record<string, string>;

export type QuarantineReason = keyof typeof QUARANTINE_REASONS;

/** The meaning of a webhook body. Every sequence of bytes is one of these. */
export type ParsedEvent =
  | LifecycleEvent
  | { readonly kind: 'ping'; readonly event: 'ping' }
  | {
      readonly kind: 'quarantine';
      readonly reason: QuarantineReason;
      /** The kind that the body names, if it is known. */
      readonly event?: EventKind;
    };

/**
 * Parses the body of a service webhook after its signature was verified (specification, Delivery headers and Events).
 * It reads no header: headers are not signed, so an attacker could repeat a delivery with other headers.
 *
 * @param body the raw bytes, as received.
 * @param onUnused called with the fields that were read as absent, because they have an unknown form.
 */
export function parseEvent(
  body: Uint8Array,
  onUnused?: (event: EventKind, fields: readonly string[]) => void,
): ParsedEvent {
  const json = readServiceJson(body);
  if (!json.ok) return { kind: 'quarantine', reason: json.reason };
  const name = nameOf(json.value);
  if (name === undefined) return { kind: 'quarantine', reason: 'no_event' };
  if (!isEventKind(name)) return { kind: 'quarantine', reason: 'unknown_kind' };
  if (name === 'ping') return { kind: 'ping', event: name };

  const envelope = readRecord(NAMELESS_ENVELOPE, inOurTerms(json.value, VARIANTS));
  const unused: string[] = [];
  const reading = envelope.ok ? readEventData(name, envelope.value.data, unused) : 'unreadable_data';
  if (unused.length > 0) onUnused?.(name, unused);
  return typeof reading === 'string' ? { kind: 'quarantine', reason: reading, event: name } : reading;
}

/** `nameOf` reads the name. */
const NAMELESS_ENVELOPE = eventEnvelope.omit({ event: true });

/** Takes the first field that may name the event. A body that names two known events is ambiguous. */
function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const named = EVENT_NAME_FIELDS.filter((field) => Object.hasOwn(value, field))
    .map((field): unknown => Reflect.get(value, field))
    .filter((name): name is string => typeof name === 'string' && name !== '');
  return new Set(named.filter(isEventKind)).size > 1 ? undefined : named[0];
}

function isEventKind(name: string): name is EventKind {
  return (EVENT_KINDS as readonly string[]).includes(name);
}
