import * as z from 'zod';
import { instant } from '#api/fields/instant.ts';

/** Time and age of a read from the service. */
export const freshness = {
  read_at: instant.meta({ description: 'When this was read from the service.' }),
  age_seconds: z.number().meta({ description: 'Age of that read in seconds.', example: 1.5 }),
};

/** {@link freshness} of a read. @param readAt, now epoch milliseconds. */
export function ageOf(readAt: number, now: number) {
  return { read_at: new Date(readAt).toISOString(), age_seconds: Math.max(0, now - readAt) / 1_000 };
}
