/** Test events with any type. Only the common part of all events is validated, not the `data` of their types. */
import * as z from 'zod';
import { eventOutput } from '#api/events/event-data.ts';
import { eventPage } from '#api/events/event-feed.ts';
import type { EventEnvelope } from '#outbound/event-message.ts';

export const madeUpEvent = z.strictObject({
  id: z.string(),
  type: z.string(),
  created_at: z.string(),
  subject: z.strictObject({ kind: z.string(), id: z.string(), href: z.string() }),
  data: z.record(z.string(), z.unknown()),
});

export const madeUpEventPage = eventPage.extend({ data: z.array(madeUpEvent) });

/** Compares an event with its description. @returns the errors. */
export function problemsOfEvent(event: EventEnvelope): readonly string[] {
  return (eventOutput.safeParse(event).error?.issues ?? []).map(
    ({ path, message, code }) => `${event.type} ${path.join('.')}: ${code}, ${message}`,
  );
}
