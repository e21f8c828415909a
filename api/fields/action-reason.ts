import { FILLED_TEXT_PATTERN, filledText } from '#api/fields/text.ts';
import { MAX_ACTION_REASON } from '#domain/operator/operator-actions.ts';

/** The reason of an operator action, which every action requires. */
export const actionReason = filledText(MAX_ACTION_REASON).meta({
  description: 'The reason; shown in the timeline. Do not include personal data.',
  example: 'The customer no longer wants it.',
  override: { pattern: FILLED_TEXT_PATTERN },
});
