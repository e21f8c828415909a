/** Which events a webhook endpoint gets: types, all of one kind (`order.*`), or all (`*`). */
import { eventTypes, type EventType } from '#domain/events/events.ts';

/** What every endpoint gets, whatever its filter says: it is sent to that endpoint alone, when somebody asks for it. */
export const TEST_EVENT = 'webhook_endpoint.test' satisfies EventType;

const ALL = '*';

/** Every pattern that selects something. */
export const eventPatterns: ReadonlySet<string> = new Set([ALL, ...eventTypes.map(familyOf), ...eventTypes]);

/** Tells whether a pattern selects any event type that exists. */
export function isEventPattern(pattern: string): boolean {
  return eventPatterns.has(pattern);
}

/** Tells whether a filter lets a type through. */
export function selects(patterns: readonly string[], type: EventType): boolean {
  return patterns.includes(ALL) || patterns.includes(type) || patterns.includes(familyOf(type));
}

function familyOf(type: string): string {
  return `${type.slice(0, type.indexOf('.'))}.${ALL}`;
}
