import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';

/** Records of decisions and of changes describe the past. */
const documents = globSync(['*.md', 'docs/**/*.md', 'simulator/*.md'], { cwd: PROJECT }).filter(
  (file) => !file.startsWith('docs/adr/') && file !== 'CHANGELOG.md',
);
const programs = globSync('cli/**/*.ts', { cwd: PROJECT }).filter((file) => file !== 'cli/terminal/typed-command.ts');

/** A text that a program splits over several lines is one text. */
const textOf = (file: string) => readFileSync(join(PROJECT, file), 'utf8').replaceAll(/['`] \+\n\s*['`]/g, '');

interface Typed {
  readonly file: string;
  /** The text after `npx reseller`, without parts for the shell or another program. */
  readonly words: readonly string[];
}

/** Every command of ours in a document or an error text. */
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

/** @returns the reason why it is invalid; undefined when it is valid. */
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

describe('the commands in documents and errors', () => {
  // Each of the about 50 commands is a process.
  it('exist, with their options', { timeout: 120_000 }, async () => {
    expect(typed.length).toBeGreaterThan(40);
    const problems: string[] = [];
    for (const each of typed) problems.push(...[await problemWith(each)].filter((problem) => problem !== undefined));
    expect(problems).toEqual([]);
  });

  it('run on the Node of the project, so no document starts a program with another Node', () => {
    const found = documents.flatMap((file) =>
      textOf(file)
        .split('\n')
        .filter((line) => /(?<!npx )\bnode [a-z-]+\/[\w/-]+\.ts/.test(line) && !/\bimage\b/.test(line))
        .map((line) => `${file}: ${line}`),
    );
    expect(found).toEqual([]);
  });
});
