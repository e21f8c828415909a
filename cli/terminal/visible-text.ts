/**
 * Makes text of others safe for a terminal: reasons of operators, answers of receivers and of the service, names of
 * keys. Characters that move the cursor, colour, hide or reorder text are escaped. A newline could forge a line of an
 * audit log; a direction override could reverse an id.
 */

/**
 * Control characters (C0, DEL, C1 with its escapes), line and paragraph separators, format characters (bidirectional
 * controls, zero-width, byte order mark, tags, soft hyphen), lone surrogates, and invisible fillers.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|\u115F|\u1160|\u3164|\uFFA0|\u034F|\u2800|[\uFE00-\uFE0F]/gu;
/** {@link UNSAFE} without line breaks, for texts of ours that contain texts of others. */
const UNSAFE_IN_LINES = new RegExp(`(?!\\r?\\n)(?:${UNSAFE.source})`, 'gu');

/** @returns the text on one line, with unsafe characters as escapes such as `\u202e`. */
export function visible(text: string): string {
  return text.replaceAll(UNSAFE, escaped);
}

/** As {@link visible}, but keeps line breaks. */
export function visibleLines(text: string): string {
  return text.replaceAll(UNSAFE_IN_LINES, escaped);
}

/** As {@link visibleLines}, for a file or another program: keeps tabs, and the format characters of words and emoji. */
export function withoutControls(text: string): string {
  return text.replaceAll(/(?!\r?\n|\t)\p{Cc}/gu, escaped);
}

/** JSON escapes of a character: two for a surrogate pair. */
function escaped(character: string): string {
  if (character === '\n') return '\\n';
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
