import type { WriteStream } from 'node:tty';
import { counted } from '#domain/text.ts';

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

/**
 * In texts of others, a newline could forge a line of an audit log, and a direction override could reverse an id.
 * Controls, line separators, format characters (bidirectional, zero-width), lone surrogates, invisible fillers.
 */
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

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
] as const;

export function duration(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms >= size) ?? UNITS[3];
  return counted(Math.floor(ms / size), unit);
}

export function lapse(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : duration(ms);
}
