/** How a checked thing stands; what each command calls it is its own. */
export type Mark = 'ok' | 'warning' | 'failure' | 'nothing';

const SIGNS: Readonly<Record<Mark, string>> = { ok: '✔', warning: '!', failure: '✘', nothing: '–' };

/** One line about one thing: its sign, its title in a column, and what is so. */
export function markedLine(mark: Mark, title: string, titleWidth: number, text: string): string {
  // What a server said may have several lines.
  return `${SIGNS[mark]} ${title.padEnd(titleWidth)} ${text}`.trimEnd().replaceAll(/\s*\n\s*/g, ' ');
}

/** `3 failures`, `1 failure`. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}
