import type { WriteStream } from 'node:tty';
import { visible, visibleLines, withoutControls } from '#cli/terminal/visible-text.ts';

/** A stream that commands print to. */
export type Output = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

/** Prints one line; newlines in it are escaped. */
export function printLine(output: Output, line: string): void {
  output.write(`${visible(line)}\n`);
}

/** Prints lines, each as {@link printLine} does. */
export function printLines(output: Output, lines: readonly string[]): void {
  for (const line of lines) printLine(output, line);
}

/** Prints lines of a file. A person may see them on a terminal later, too, so control characters are always escaped. */
export function printText(output: Output, text: string): void {
  output.write(output.isTTY === true ? visibleLines(text) : withoutControls(text));
}

/** Prints a value as JSON, with unsafe characters as JSON escapes. */
export function printJson(output: Output, value: unknown): void {
  output.write(`${visibleLines(JSON.stringify(value, null, 2))}\n`);
}

/** The state of a checked item; each command has its own name for it. */
export type Mark = 'ok' | 'warning' | 'failure' | 'nothing';

const SIGNS: Readonly<Record<Mark, string>> = { ok: '✔', warning: '!', failure: '✘', nothing: '–' };

/** One line with sign, title padded to `titleWidth` characters, and text. */
export function markedLine(mark: Mark, title: string, titleWidth: number, text: string): string {
  // A message of a server may have several lines.
  return `${SIGNS[mark]} ${title.padEnd(titleWidth)} ${text}`.trimEnd().replaceAll(/\s*\n\s*/g, ' ');
}

/**
 * A command of ours for a text, as it can be typed in a clone of the project.
 *
 * @param data data folder that the running command got with --data; added to the text.
 */
export function typed(command: string, data: string | undefined): string {
  return `\`npx reseller ${command}${data === undefined ? '' : ` --data ${data}`}\``;
}
