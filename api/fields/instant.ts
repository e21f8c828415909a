import * as z from 'zod';

export const instant = z.iso
  .datetime({ offset: true, error: 'must be an RFC 3339 time with offset, such as 2030-01-31T12:00:00Z' })
  .meta({ description: 'RFC 3339 time.', example: '2030-01-31T12:00:00.000Z' });

/** {@link instant} of a request, as a Date. */
export const instantInput = instant
  .meta({ example: undefined })
  .transform((text) => new Date(text))
  // PostgreSQL and JavaScript both support these years; an offset may lead out of them.
  .refine((time) => time.getUTCFullYear() >= 1970 && time.getUTCFullYear() <= 9998, 'must be a time from 1970 to 9998');

/** A time as a filter of a list. */
export function timeInQuery(description: string) {
  return instantInput.optional().meta({ description, override: { type: 'string', format: 'date-time' } });
}

/** A time in RFC 3339 with milliseconds, or null. */
export function instantJson(instant: Date | null): string | null {
  return instant === null ? null : instant.toISOString();
}
