import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';

/** Records of decisions and of changes say what was so then. */
const documents = globSync(['*.md', 'docs/**/*.md', 'simulator/*.md'], { cwd: PROJECT }).filter(
  (file) => !file.startsWith('docs/adr/') && file !== 'CHANGELOG.md',
);
const programs = globSync('cli/**/*.ts', { cwd: PROJECT }).filter((file) => file !== 'cli/terminal/typed-command.ts');

/** A text that is split over several lines of a program is one text. */
const textOf = (file: string) => readFileSync(join(PROJECT, file), 'utf8').replaceAll(/['`] \+\n\s*['`]/g, '');

interface Typed {
  readonly file: string;
  /** What follows `npx reseller`, up to what belongs to the shell or to another program. */
  readonly words: readonly string[];
}

/** Every command of ours that a document or an error tells its reader to type. */
const typed: readonly Typed[] = [...documents, ...programs].flatMap((file) =>
  [...textOf(file).matchAll(/npx reseller ([^`\n|>#]+)|typed\([`']([^`'$]+)/g)].map(([, shown = '', built = '']) => ({
    file,
    words:
      (shown || built)
        .split(/ -- | \\\\|\\/)[0]
        ?.split(/\s+/)
        .filter(Boolean) ?? [],
  })),
);

const helpOf = new Map<string, Promise<string>>();

function help(...command: string[]): Promise<string> {
  const name = command.join(' ');
  const known =
    helpOf.get(name) ??
    promisify(execFile)(process.execPath, ['cli/main.ts', ...command, '--help'], { cwd: PROJECT }).then(
      ({ stdout }) => stdout,
    );
  helpOf.set(name, known);
  return known;
}

/** @returns why it cannot be typed; undefined when it can. */
async function problemWith({ file, words }: Typed): Promise<string | undefined> {
  const command: string[] = [];
  let shown = await help();
  for (const word of words) {
    const commands = [...(shown.split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name);
    if (commands.length === 0) break;
    if (!commands.includes(word)) return `${file}: ${words.join(' ')}: there is no ${word}`;
    command.push(word);
    shown = await help(...command);
  }
  const missing = words.filter((word) => /^--[a-z]/.test(word)).find((option) => !shown.includes(`${option} `));
  return missing === undefined ? undefined : `${file}: ${command.join(' ')} has no option ${missing}`;
}

describe('what documents and errors tell their reader to type', () => {
  // Each is a start of the command, some 50 of them.
  it('are commands that exist, with options that they have', { timeout: 120_000 }, async () => {
    expect(typed.length).toBeGreaterThan(40);
    const problems: string[] = [];
    for (const each of typed) problems.push(...[await problemWith(each)].filter((problem) => problem !== undefined));
    expect(problems).toEqual([]);
  });

  it('runs on the Node that the project brings: no document names a program of ours to the Node that happens to be there', () => {
    const found = documents.flatMap((file) =>
      textOf(file)
        .split('\n')
        .filter((line) => /(?<!npx )\bnode [a-z-]+\/[\w/-]+\.ts/.test(line) && !/\bimage\b/.test(line))
        .map((line) => `${file}: ${line}`),
    );
    expect(found).toEqual([]);
  });
});
