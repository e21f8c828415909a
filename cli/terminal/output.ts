import type { WriteStream } from 'node:tty';
import { visible, visibleLines, withoutControls } from '#cli/terminal/visible-text.ts';

export type Output = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

/** Newlines are escaped. */
export function printLine(output: Output, line: string): void {
  output.write(`${visible(line)}\n`);
}

export function printLines(output: Output, lines: readonly string[]): void {
  for (const line of lines) printLine(output, line);
}

/** Control characters are always escaped: a person may see the file on a terminal later. */
export function printText(output: Output, text: string): void {
  output.write(output.isTTY === true ? visibleLines(text) : withoutControls(text));
}

/** Unsafe characters become JSON escapes. */
export function printJson(output: Output, value: unknown): void {
  output.write(`${visibleLines(JSON.stringify(value, null, 2))}\n`);
}

export type Mark = 'ok' | 'warning' | 'failure' | 'nothing';

const SIGNS: Readonly<Record<Mark, string>> = { ok: '✔', warning: '!', failure: '✘', nothing: '–' };

export function markedLine(mark: Mark, title: string, titleWidth: number, text: string): string {
  // A message of a server may have several lines.
  return `${SIGNS[mark]} ${title.padEnd(titleWidth)} ${text}`.trimEnd().replaceAll(/\s*\n\s*/g, ' ');
}

/** @param data folder that the running command got with --data. */
export function typed(command: string, data: string | undefined): string {
  return `\`npx reseller ${command}${data === undefined ? '' : ` --data ${data}`}\``;
}
