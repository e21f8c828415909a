/** Text that PostgreSQL can store, for the description. UTF-8 excludes lone surrogates already. */
export const TEXT_PATTERN = '^[^\\x00]*$';

/** {@link TEXT_PATTERN} with at least one visible character. */
export const FILLED_TEXT_PATTERN = '^[^\\x00]*[^\\s\\x00][^\\x00]*$';
