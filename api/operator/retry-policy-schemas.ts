import * as z from 'zod';
import { instant, instantInput } from '#api/fields/instant.ts';
import { wholeNumber } from '#api/fields/numbers.ts';
import { RETRY_CHANGE_BOUNDS } from '#domain/retry/retry-change.ts';

/** The retry policy of work. */
export const retryPolicy = z
  .strictObject({
    attempts: z.int().nullable().meta({
      description: 'Total attempts, including those granted by operators. `attempts` of the work counts those made.',
      example: 3,
    }),
    first_wait_seconds: z.number().nullable().meta({
      description: 'First wait before another try; doubled each time. A time given by the service has precedence.',
      example: 15,
    }),
    longest_wait_seconds: z.number().nullable().meta({ description: 'Longest such wait.', example: 600 }),
    gives_up_at: instant
      .nullable()
      .meta({ description: 'Held work ends at this time. It never ends work that may have bought.' }),
    changed: z.array(z.enum(['attempts', 'first_wait', 'longest_wait', 'deadline'])).meta({
      description: 'Fields that an operator has set for this work; empty: all as configured.',
    }),
  })
  .meta({
    id: 'RetryPolicy',
    description:
      'The retry policy for its current hold reason or last failure. `null`: as configured; its ' +
      'workflow stores the values when it starts. ' +
      'Work held by the purchase gate continues when the gate releases it, independent of the waits.',
  });

const { attempts: ATTEMPTS, seconds: SECONDS } = RETRY_CHANGE_BOUNDS;
const secondsInput = wholeNumber(SECONDS.min, SECONDS.max).nullable().optional();

/** Changes of the retry policy of one piece of work. */
export const retryPolicyInput = {
  attempts: wholeNumber(ATTEMPTS.min, ATTEMPTS.max).nullable().optional().meta({
    description: 'Total attempts, including those made. With a lower number than those made, no other one follows.',
  }),
  first_wait_seconds: secondsInput.meta({ description: 'First wait; doubled each time.' }),
  longest_wait_seconds: secondsInput.meta({ description: 'Longest wait.' }),
  deadline: instantInput
    .meta({ override: { type: 'string', format: 'date-time' } })
    .nullable()
    .optional()
    .meta({
      description:
        'Replaces the deadline of the caller and the configured one; in the future, and at most 92 days ahead.',
    }),
};
