import * as z from 'zod';
import { FILLED_TEXT_PATTERN } from '#api/fields/text.ts';
import { MAX_ACTION_REASON } from '#domain/operator/operator-actions.ts';

/** The reason of an operator action, which every action requires. */
export const actionReason = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(MAX_ACTION_REASON)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), { message: 'must be well-formed text without NUL' })
  .meta({
    description: 'The reason; shown in the timeline. Do not include personal data.',
    example: 'The customer no longer wants it.',
    override: { pattern: FILLED_TEXT_PATTERN },
  });
