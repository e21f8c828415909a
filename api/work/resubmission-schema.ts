import * as z from 'zod';

/** Whether the same may be submitted once more. */
export const resubmissionSchema = z
  .strictObject({
    verdict: z.enum(['not_needed', 'no', 'yes']),
    reason: z.string(),
  })
  .meta({
    description:
      'Whether submitting the same again, under another reference of yours, would be safe. `not_needed`: it is ' +
      'bought, or goes on. ' +
      '`no`: it may have been bought, and both would be paid. `yes`: nothing was bought and nothing will be, or ' +
      'what was bought has ended.',
  });
