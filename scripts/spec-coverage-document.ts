/** `docs/reference/spec-coverage.md`, made from the statements of the specification and the tests that name them. */
import type { TaggedTest } from '#scripts/spec-tags.ts';
import type { Removal } from '#scripts/spec/removals.ts';
import type { Section, Statement } from '#scripts/spec/statements.ts';

export interface CoverageSources {
  readonly sections: readonly Section[];
  readonly tests: readonly TaggedTest[];
  readonly removals: readonly Removal[];
}

/** @returns the whole document in Markdown, ended by a line break. */
export function coverageDocument({ sections, tests, removals }: CoverageSources): string {
  const statements = sections.flatMap((section) => section.statements);
  return [
    '# The specification of the service, and the tests that cover it',
    '',
    'Generated from `scripts/spec/` and the titles of the tests by `npm run generate:spec-coverage`. A test fails when this is',
    'stale, when a statement has no test, and when a test names a statement that does not exist.',
    '',
    'Each row is one statement of the specification, in our own words. A test covers it when its title ends with',
    '`[spec: …]` and the id. `%s` and the like in titles stand for the rows of a table that the test runs through.',
    '',
    `${statements.length} statements, ${tests.length} tests that name them.`,
    '',
    ...sections.flatMap((section) => sectionLines(section, tests)),
    '## Checked by removal',
    '',
    'A test counts only if it fails once the behaviour is removed. That was tried for these rows: the behaviour was broken in a',
    'copy of the project, the tests that name the statement were run, and these failed.',
    '',
    ...table(
      ['Statement', 'What was removed', 'Where', 'What failed'],
      removals.map(({ id, removed, file, failed }) => [`\`${id}\``, removed, `\`${file}\``, failed.map(asListItem).join('<br>')]),
    ),
    '',
  ].join('\n');
}

/** What makes the table untrue, in words. */
export function coverageProblems({ sections, tests, removals }: CoverageSources): string[] {
  const statements = sections.flatMap((section) => section.statements);
  const ids = statements.map(({ id }) => id);
  const twice = ids.filter((id, position) => ids.indexOf(id) !== position);
  return [
    ...twice.map((id) => `${id} is there twice`),
    ...statements.filter(({ id }) => testsOf(id, tests).length === 0).map(({ id }) => `${id} has no test`),
    ...tests.flatMap((test) =>
      test.ids
        .filter((written) => !ids.some((id) => covers(written, id)))
        .map((written) => `${test.file}: "${test.title}" names ${written}, which is no statement`),
    ),
    ...removals.flatMap(({ id, failed }) => {
      const known = new Set(testsOf(id, tests).map(nameOf));
      return failed.filter((test) => !known.has(nameOf(test))).map((test) => `removal of ${id}: "${test.title}" does not name it`);
    }),
  ];
}

function sectionLines({ title, note, statements }: Section, tests: readonly TaggedTest[]): string[] {
  const row = ({ id, kind, says }: Statement) => [kind, says, `\`${id}\``, testsOf(id, tests).map(asListItem).join('<br>')];
  return [`## ${title}`, '', ...(note === undefined ? [] : [note, '']), ...table(['Kind', 'Statement', 'Id', 'Tests'], statements.map(row)), ''];
}

function testsOf(id: string, tests: readonly TaggedTest[]): TaggedTest[] {
  return tests.filter(({ ids }) => ids.some((written) => covers(written, id)));
}

/** @param written an id, or `area.*`. */
function covers(written: string, id: string): boolean {
  return written === id || (written.endsWith('.*') && id.startsWith(written.slice(0, -1)));
}

function nameOf({ file, title }: { readonly file: string; readonly title: string }): string {
  return `${file}: ${title}`;
}

function asListItem({ file, title }: { readonly file: string; readonly title: string }): string {
  return `\`${file.replace(/^test\//, '').replace(/\.test\.ts$/, '')}\`: ${title.replaceAll(/[*_<>`\\]/g, String.raw`\$&`)}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
