import * as z from 'zod';

/** Whether submitting the same again would be safe. */
export const resubmissionSchema = z
  .strictObject({
    verdict: z.enum(['not_needed', 'no', 'yes']).meta({
      description:
        '`not_needed`: it is bought, or continues. `no`: it may have been bought, or a person may still let it be ' +
        'bought, so you would pay twice. `yes`: nothing was or will be bought, or the purchase has ended.',
    }),
    reason: z.string(),
  })
  .meta({
    description:
      'Whether submitting the same again would be safe. After `failed` and `abandoned` it may have the same reference.',
  });
