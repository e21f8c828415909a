/** Text that PostgreSQL can store, for the description: JSON itself cannot hold half of a surrogate pair in UTF-8. */
export const TEXT_PATTERN = '^[^\\x00]*$';

/** The same with something in it. */
export const FILLED_TEXT_PATTERN = '^[^\\x00]*[^\\s\\x00][^\\x00]*$';
