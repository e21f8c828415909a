/**
 * For texts of others: operators' reasons, answers, names of keys. A newline could forge a line of an audit log; a
 * direction override could reverse an id.
 */

/**
 * C0, DEL and C1, line and paragraph separators, format characters (bidirectional, zero-width, tags), lone surrogates,
 * invisible fillers.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|\u115F|\u1160|\u3164|\uFFA0|\u034F|\u2800|[\uFE00-\uFE0F]/gu;
/** For texts of ours that contain texts of others. */
const UNSAFE_IN_LINES = new RegExp(`(?!\\r?\\n)(?:${UNSAFE.source})`, 'gu');

/** On one line, with escapes such as `\u202e`. */
export function visible(text: string): string {
  return text.replaceAll(UNSAFE, escaped);
}

export function visibleLines(text: string): string {
  return text.replaceAll(UNSAFE_IN_LINES, escaped);
}

/** For a file or another program: also keeps tabs, and the format characters of words and emoji. */
export function withoutControls(text: string): string {
  return text.replaceAll(/(?!\r?\n|\t)\p{Cc}/gu, escaped);
}

/** Two for a surrogate pair. */
function escaped(character: string): string {
  if (character === '\n') return '\\n';
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
