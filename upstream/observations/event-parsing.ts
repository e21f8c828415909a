import { readJson } from '#upstream/client/json.ts';
import { EVENT_KINDS, EVENT_NAME_FIELDS, eventEnvelope, type EventKind } from '#upstream/contract.ts';
import { inOurTerms, VARIANTS } from '#upstream/contract/variants.ts';
import { readEventData, type LifecycleEvent } from '#upstream/observations/event-data.ts';
import { readRecord } from '#upstream/reading/record.ts';

export { chargeOf } from '#upstream/observations/event-data.ts';

/** What a quarantined delivery could not say. */
export const QUARANTINE_REASONS = {
  not_utf8: 'The body is not valid UTF-8.',
  not_json: 'The body is not JSON.',
  duplicate_key: 'The body names a field twice, so that it has no single meaning.',
  too_deep: 'The body is nested too deeply.',
  no_event: 'The signed body names no event.',
  unknown_kind: 'The event kind is not one of the specification.',
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
 * Reads the body of a webhook whose signature was verified. Takes no header: headers are not signed, so a stranger who
 * has seen a delivery could send it again with others.
 *
 * @param body the raw bytes, as received.
 * @param onUnused told of the fields that are read as absent, since they have a form that is not understood.
 */
export function parseEvent(
  body: Uint8Array,
  onUnused?: (event: EventKind, fields: readonly string[]) => void,
): ParsedEvent {
  const json = readJson(body);
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

/** The name is read before, by its own rule. */
const NAMELESS_ENVELOPE = eventEnvelope.omit({ event: true });

/** The first field that may name the event does. A body that names two events of ours has no single meaning. */
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
