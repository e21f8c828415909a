import * as z from 'zod';
import { instant } from '#api/fields/instant.ts';

/** When something was read from the service. */
export const freshness = {
  read_at: instant.meta({ description: 'When this was read from the service.' }),
  age_seconds: z.number().meta({ description: 'How long ago that was.', example: 1.5 }),
};

export const freshnessExample = { read_at: '2030-01-31T12:00:00.000Z', age_seconds: 1.5 };

/** {@link freshness} of what was read at this time. @param readAt epoch milliseconds, as is `now`. */
export function ageOf(readAt: number, now: number) {
  return { read_at: new Date(readAt).toISOString(), age_seconds: Math.max(0, now - readAt) / 1_000 };
}
