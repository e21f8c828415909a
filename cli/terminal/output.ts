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
