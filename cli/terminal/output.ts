import type { WriteStream } from 'node:tty';
import { visible, visibleLines } from '#cli/terminal/visible-text.ts';

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

/** Prints a value as JSON, with unsafe characters as JSON escapes. */
export function printJson(output: Output, value: unknown): void {
  output.write(`${visibleLines(JSON.stringify(value, null, 2))}\n`);
}
