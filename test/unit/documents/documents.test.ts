import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { GUIDES } from '#api/site/guides.ts';
import { resellerProgram } from '#cli/program.ts';
import { describe as addOptions } from '#cli/resources/resource-command.ts';
import { possibleCommands } from '#domain/operator/possible-actions.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { PACKAGES, VPN_PLANS } from '#simulator/catalogue.ts';
import { PROJECT, readProject } from '#test/support/compose.ts';
import { holdReasons, waitingStates } from '#test/support/work/waiting-states.ts';

const documents = globSync(['*.md', 'docs/**/*.md', 'clients/*/*.md', 'simulator/*.md'], { cwd: PROJECT });
/** Records of decisions and of changes describe the past. */
const current = documents.filter((file) => !file.startsWith('docs/adr/') && file !== 'CHANGELOG.md');

/** The anchor of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Where `npm start` serves the pages of the documentation site. */
const SITE = 'http://127.0.0.1:3000/docs/guides/';

function problemWithLink(document: string, target: string): string | undefined {
  if (target.startsWith(SITE))
    return GUIDES.some(({ name }) => target === SITE + name) ? undefined : `${target}: no such page of /docs`;
  if (/^https?:/.test(target)) return undefined;
  const [path = '', anchor] = target.split('#', 2);
  const file = path === '' ? document : join(dirname(document), path);
  if (!existsSync(join(PROJECT, file))) return `${target}: no such file`;
  if (anchor === undefined) return undefined;
  const headings = [...readProject(file).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => anchorOf(text));
  return headings.includes(anchor) ? undefined : `${target}: no such heading`;
}

describe('the documents', () => {
  it.each(documents)('%s links to existing files, headings and pages of /docs', (document) => {
    const text = readProject(document).replaceAll(/^```[^]*?^```/gm, '');
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    expect(targets.flatMap((target) => problemWithLink(document, target) ?? [])).toEqual([]);
  });

  it('are all in the index', () => {
    const index = readProject('docs/README.md');
    const listed = current.filter((document) => document.startsWith('docs/') && document !== 'docs/README.md');
    expect(listed.filter((document) => !index.includes(`](${document.replace(/^docs\//, '')})`))).toEqual([]);
  });
});

describe('the ids of packages and VPN plans in the documents', () => {
  it('exist in the simulator, so that every example works beside `npm start`', () => {
    // Those that a reader can type: in a body, an option, or a program.
    const typedId = /(?:--)?\b(package|vpn[_-]plan)(?:[_-]id)?(?:"?: ?|=| )(\d+)\b/g;
    const typed = current.flatMap((file) =>
      [...readProject(file).matchAll(typedId)].map(([text, kind, id]) => ({
        text: `${file}: ${text}`,
        kind,
        id: Number(id),
      })),
    );
    expect(typed.length).toBeGreaterThan(15);
    const isSold = (kind: string | undefined, id: number) =>
      (kind === 'package' ? PACKAGES : VPN_PLANS).some((each) => each.id === id);
    expect(typed.filter(({ kind, id }) => !isSold(kind, id)).map(({ text }) => text)).toEqual([]);
  });
});

const programs = globSync('cli/**/*.ts', { cwd: PROJECT }).filter((file) => file !== 'cli/terminal/output.ts');

/** A text that a program splits over several lines is one text. */
const textOf = (file: string) => readProject(file).replaceAll(/['`] \+\n\s*['`]/g, '');

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
    ({ command }) => ({ file: 'Temporal UI', words: command.split(' ').slice(2) }),
  ),
);

/** Every command of ours in a document or an error text. */
const inTexts: readonly Typed[] = [...current, ...programs].flatMap((file) =>
  [...textOf(file).matchAll(/npx reseller ([^`\n|>#]+)|typed\([`']([^`'$]+)/g)].map(([, shown = '', built = '']) => ({
    file,
    words: ((shown || built).split(/ -- | \\\\|\\/)[0] ?? '').split(/\s+/).filter(Boolean),
  })),
);

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
    expect([...inTexts, ...shownInUi].flatMap((typed) => problemWith(typed) ?? [])).toEqual([]);
  });
});
