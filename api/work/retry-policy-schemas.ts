import * as z from 'zod';
import { instant, instantInput } from '#api/fields/instant.ts';
import { wholeNumber } from '#api/fields/numbers.ts';
import { RETRY_CHANGE_BOUNDS } from '#domain/work/retry-change.ts';

/** By what work is tried again. */
export const retryPolicy = z
  .strictObject({
    attempts: z.int().nullable().meta({
      description:
        'Attempts in all, those that operators have granted included. `attempts` of the work says how many were made.',
      example: 3,
    }),
    first_wait_seconds: z.number().nullable().meta({
      description: 'First wait before it is tried again; doubled each time. A time that the service names goes first.',
      example: 15,
    }),
    longest_wait_seconds: z.number().nullable().meta({ description: 'Longest such wait.', example: 600 }),
    gives_up_at: instant
      .nullable()
      .meta({ description: 'What is still held then ends. What may have been bought never ends by this.' }),
    changed: z.array(z.enum(['attempts', 'first_wait', 'longest_wait', 'deadline'])).meta({
      description: 'What an operator has set for this one; empty: all is as configured.',
    }),
  })
  .meta({
    id: 'RetryPolicy',
    description:
      'By what it is tried again, for what holds it now or failed last. `null`: as configured, which its ' +
      'workflow says once it begins. ' +
      'What the purchase gate holds goes on when that is over, whatever the waits are.',
  });

const { attempts: ATTEMPTS, seconds: SECONDS } = RETRY_CHANGE_BOUNDS;
const secondsInput = wholeNumber(SECONDS.min, SECONDS.max).nullable().optional();

/** What of the retry policy of one piece of work is to change. */
export const retryPolicyInput = {
  attempts: wholeNumber(ATTEMPTS.min, ATTEMPTS.max).nullable().optional().meta({
    description: 'Attempts in all, those that were made included. With fewer than were made no further one follows.',
  }),
  first_wait_seconds: secondsInput.meta({ description: 'First wait; doubled each time.' }),
  longest_wait_seconds: secondsInput.meta({ description: 'Longest wait.' }),
  deadline: instantInput
    .meta({ override: { type: 'string', format: 'date-time' } })
    .nullable()
    .optional()
    .meta({
      description:
        'In place of the deadline that the caller named and of the configured one; in the future, and 92 days ' +
        'ahead at most.',
    }),
};
