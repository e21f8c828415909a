import type { Output } from '#cli/terminal/terminal.ts';

/**
 * Text of others (reasons that operators typed, answers of receivers and of the service, names of keys) as a terminal
 * may show it: on one line, with everything visible that could move the cursor, colour, hide or reorder what is
 * printed. A newline in it would forge a line of an audit log, and a direction override would turn an id around.
 */

/**
 * Control characters (C0, DEL, C1 with its escapes), line and paragraph separators, format characters (bidirectional
 * controls, zero-width, byte order mark, tags, soft hyphen), surrogates that stand alone, and fillers that show
 * nothing.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|\u115F|\u1160|\u3164|\uFFA0|\u034F|\u2800|[\uFE00-\uFE0F]/gu;
/** The same without the newline, for texts of our own that hold those of others. */
const UNSAFE_IN_LINES = new RegExp(`(?!\\n)(?:${UNSAFE.source})`, 'gu');

/** @returns the text on one line; each character that is not safe as an escape such as `\u202e`. */
export function visible(text: string): string {
  return text.replaceAll(UNSAFE, escaped);
}

/** As {@link visible}, but with its lines: for what we have laid out ourselves. */
export function visibleLines(text: string): string {
  return text.replaceAll(UNSAFE_IN_LINES, escaped);
}

/** Prints one line; what it says of others cannot become a second one. */
export function printLine(output: Output, line: string): void {
  output.write(`${visible(line)}\n`);
}

/** Prints lines, each as {@link printLine} does. */
export function printLines(output: Output, lines: readonly string[]): void {
  for (const line of lines) printLine(output, line);
}

/** Prints a value as JSON that reads back as it is: what is not safe to show stands as an escape of JSON. */
export function printJson(output: Output, value: unknown): void {
  output.write(`${visibleLines(JSON.stringify(value, null, 2))}\n`);
}

/** As JSON escapes: those beyond the first plane are two. */
function escaped(character: string): string {
  if (character === '\n') return '\\n';
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
