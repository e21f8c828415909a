/** The state of a checked item; each command has its own name for it. */
export type Mark = 'ok' | 'warning' | 'failure' | 'nothing';

const SIGNS: Readonly<Record<Mark, string>> = { ok: '✔', warning: '!', failure: '✘', nothing: '–' };

/** One line with sign, title padded to `titleWidth` characters, and text. */
export function markedLine(mark: Mark, title: string, titleWidth: number, text: string): string {
  // A message of a server may have several lines.
  return `${SIGNS[mark]} ${title.padEnd(titleWidth)} ${text}`.trimEnd().replaceAll(/\s*\n\s*/g, ' ');
}
