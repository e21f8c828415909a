/** Filters of webhook endpoints: single event types, all types of one kind (`order.*`), or all (`*`). */
import { eventTypes, type EventType } from '#domain/events/event-types.ts';

/** Sent to one endpoint alone when a caller requests it, whatever the filter of the endpoint is. */
export const TEST_EVENT = 'webhook_endpoint.test' satisfies EventType;

const ALL = '*';

/** All valid patterns. */
export const eventPatterns: ReadonlySet<string> = new Set([ALL, ...eventTypes.map(familyOf), ...eventTypes]);

/** True when a pattern selects at least one event type. */
export function isEventPattern(pattern: string): boolean {
  return eventPatterns.has(pattern);
}

/** True when a filter selects an event type. */
export function selects(patterns: readonly string[], type: EventType): boolean {
  return patterns.includes(ALL) || patterns.includes(type) || patterns.includes(familyOf(type));
}

function familyOf(type: string): string {
  return `${type.slice(0, type.indexOf('.'))}.${ALL}`;
}
