import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { resellerProgram } from '#cli/program.ts';
import { describe as addOptions } from '#cli/resources/resource-command.ts';
import { possibleCommands } from '#domain/operator/possible-actions.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { PROJECT } from '#test/support/compose.ts';
import { holdReasons, waitingStates } from '#test/support/work/waiting-states.ts';

/** Records of decisions and of changes describe the past. */
const documents = globSync(['*.md', 'docs/**/*.md', 'simulator/*.md'], { cwd: PROJECT }).filter(
  (file) => !file.startsWith('docs/adr/') && file !== 'CHANGELOG.md',
);
const programs = globSync('cli/**/*.ts', { cwd: PROJECT }).filter((file) => file !== 'cli/terminal/output.ts');

/** A text that a program splits over several lines is one text. */
const textOf = (file: string) => readFileSync(join(PROJECT, file), 'utf8').replaceAll(/['`] \+\n\s*['`]/g, '');

interface Typed {
  readonly file: string;
  /** The text after `npx reseller`, without parts for the shell or another program. */
  readonly words: readonly string[];
}

/** Every command that the Temporal UI shows for work that waits. */
const shownInUi: readonly Typed[] = [
  ...WORK_KINDS.flatMap((kind) =>
    holdReasons.map((failure) => [kind, { status: 'held', failure, attempt: { state: 'prepared' } }] as const),
  ),
  ...waitingStates.map(
    ([kind, attention, { state }]) => [kind, { status: 'needs_attention', attention, attempt: { state } }] as const,
  ),
].flatMap(([kind, { attempt, ...waiting }]) =>
  possibleCommands({ kind, id: 'id_1' }, { ...waiting, attempt: { ...attempt, settled: false } }).map(
    ({ command }) => ({
      file: 'Temporal UI',
      words: command.split(' ').slice(2),
    }),
  ),
);

/** Every command of ours in a document or an error text. */
const inTexts: readonly Typed[] = [...documents, ...programs].flatMap((file) =>
  [...textOf(file).matchAll(/npx reseller ([^`\n|>#]+)|typed\([`']([^`'$]+)/g)].map(([, shown = '', built = '']) => ({
    file,
    words:
      (shown || built)
        .split(/ -- | \\\\|\\/)[0]
        ?.split(/\s+/)
        .filter(Boolean) ?? [],
  })),
);

const typed = [...inTexts, ...shownInUi];

const { program } = resellerProgram({});
await addOptions(program);

/** @returns the reason why it is invalid; undefined when it is valid. */
function problemWith({ file, words }: Typed): string | undefined {
  const path: Command[] = [program];
  for (const word of words) {
    const { commands } = path.at(-1)!;
    if (commands.length === 0) break;
    const next = commands.find((command) => command.name() === word);
    if (next === undefined) return `${file}: ${words.join(' ')}: there is no ${word}`;
    path.push(next);
  }
  const known = new Set(path.flatMap(({ options }) => options.map(({ long }) => long)));
  const missing = words.filter((word) => /^--[a-z]/.test(word)).find((option) => !known.has(option));
  return missing === undefined ? undefined : `${file}: ${words.join(' ')} has no option ${missing}`;
}

describe('the commands in documents and errors', () => {
  it('exist, with their options', () => {
    expect(inTexts.length).toBeGreaterThan(40);
    expect(shownInUi.length).toBeGreaterThan(100);
    expect(typed.map(problemWith).filter((problem) => problem !== undefined)).toEqual([]);
  });
});
