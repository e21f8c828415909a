import * as z from 'zod';

/** Text that PostgreSQL can store, for the description. UTF-8 excludes lone surrogates already. */
export const TEXT_PATTERN = '^[^\\x00]*$';

/** {@link TEXT_PATTERN} with at least one visible character. */
export const FILLED_TEXT_PATTERN = '^[^\\x00]*[^\\s\\x00][^\\x00]*$';

/** A check of a text: PostgreSQL can store neither NUL nor a lone surrogate. */
export const storable = z.refine<string>((text) => !text.includes('\0') && text.isWellFormed(), {
  message: 'must be well-formed text without NUL',
});

/**
 * A text with content; the space around it is removed. Its length counts as it was sent, because the description of the
 * API states it so.
 */
export function filledText(maxLength: number) {
  return z.string().max(maxLength).trim().min(1, 'must not be empty').check(storable);
}
