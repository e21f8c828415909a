/** In texts of others, a newline could forge a line of an audit log, and a direction override could reverse an id. */

/** Controls, line separators, format characters (bidirectional, zero-width), lone surrogates, invisible fillers. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|\u115F|\u1160|\u3164|\uFFA0|\u034F|\u2800|[\uFE00-\uFE0F]/gu;
/** Our texts with line breaks may contain texts of others. */
const UNSAFE_IN_LINES = new RegExp(`(?!\\r?\\n)(?:${UNSAFE.source})`, 'gu');

/** Escapes look like `\u202e`. */
export function visible(text: string): string {
  return text.replaceAll(UNSAFE, escaped);
}

export function visibleLines(text: string): string {
  return text.replaceAll(UNSAFE_IN_LINES, escaped);
}

/** For files and other programs: keeps tabs, and the format characters of words and emoji. */
export function withoutControls(text: string): string {
  return text.replaceAll(/(?!\r?\n|\t)\p{Cc}/gu, escaped);
}

/** A surrogate pair becomes two escapes. */
function escaped(character: string): string {
  if (character === '\n') return '\\n';
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
