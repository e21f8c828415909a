/**
 * Generates `docs/reference/spec-coverage.md` from the statements of the specification and the tests that name them.
 */
import { failedTests, isOfSimulator, type Removal } from '#scripts/spec/removals/removal.ts';
import { covers, testsNaming, type TaggedTest } from '#scripts/spec/spec-tags.ts';
import type { Section, Statement } from '#scripts/spec/statements.ts';

export interface CoverageSources {
  readonly sections: readonly Section[];
  readonly tests: readonly TaggedTest[];
  readonly removals: readonly Removal[];
  /** The reason why no test of the product can fail, by the id of the statement. */
  readonly simulatorOnly: Readonly<Record<string, string>>;
}

/** @returns the whole document in Markdown, with a final line break. */
export function coverageDocument(sources: CoverageSources): string {
  const { sections, tests, removals, simulatorOnly } = sources;
  const statements = sections.flatMap((section) => section.statements);
  const proven = statements.length - Object.keys(simulatorOnly).length;
  return [
    '# The specification of the service, and the tests that cover it',
    '',
    'Generated from `scripts/spec/` and the titles of the tests by `npm run generate:spec-coverage`. A test fails when',
    'this file is out of date, when a statement has no test, or when a test names an unknown statement.',
    '',
    'Each row is one statement of the specification, in our own words. A test covers it when its title ends with',
    '`[spec: …]` and the id. `%s` and similar placeholders in titles stand for the rows of a table of the test.',
    '',
    'A test proves a statement only if it fails once the behaviour is removed. The column *Proof* says whether such a',
    'failure of a product test was seen, or why it is impossible. [Checked by removal](#checked-by-removal) has the',
    'details.',
    '',
    `${statements.length} statements, ${tests.length} tests that name them.`,
    `For ${proven} of the statements, a test of the product failed after the removal.`,
    '',
    ...sections.flatMap((section) => sectionLines(section, sources)),
    '## Checked by removal',
    '',
    'The behaviour was removed from a copy of the project, the tests that name the statement were run, and these',
    'failed. `npm run check:removals` repeats this, for all rows or for the given ids.',
    '',
    ...table(
      ['Statement', 'Removal', 'File', 'Failed tests'],
      removals.map((removal) => [
        `\`${removal.id}\``,
        removal.removed,
        `\`${removal.file}\``,
        failedTests(removal, tests).map(asListItem).join('<br>'),
      ]),
    ),
    '',
  ].join('\n');
}

/** @returns the errors in the table, one text each. */
export function coverageProblems(sources: CoverageSources): string[] {
  const { sections, tests } = sources;
  const ids = sections.flatMap((section) => section.statements).map(({ id }) => id);
  const twice = ids.filter((id, position) => ids.indexOf(id) !== position);
  return [
    ...twice.map((id) => `${id} is there twice`),
    ...ids.filter((id) => testsNaming(id, tests).length === 0).map((id) => `${id} has no test`),
    ...tests.flatMap((test) =>
      test.ids
        .filter((written) => !ids.some((id) => covers(written, id)))
        .map((written) => `${test.file}: "${test.title}" names ${written}, which is no statement`),
    ),
    ...removalProblems(sources, ids),
  ];
}

function removalProblems({ tests, removals, simulatorOnly }: CoverageSources, ids: readonly string[]): string[] {
  const known = [...Object.keys(simulatorOnly), ...removals.map(({ id }) => id)];
  return [
    ...known.filter((id) => !ids.includes(id)).map((id) => `removal of ${id}, which is no statement`),
    ...removals.flatMap((removal) => {
      try {
        failedTests(removal, tests);
        return [];
      } catch (error) {
        return [error instanceof Error ? error.message : String(error)];
      }
    }),
    ...ids.flatMap((id) => {
      const own = removals.filter((removal) => removal.id === id && removal.failed.length > 0);
      const isProven = own.some(isProvenByProduct);
      if (simulatorOnly[id] === undefined) return isProven ? [] : [`${id}: no test of the product was seen to fail`];
      if (isProven) return [`${id} is not about the simulator only: a test of the product was seen to fail`];
      return own.length === 0 ? [`${id}: no test was seen to fail`] : [];
    }),
  ];
}

/** True when the removal was in the product and a test of the product failed. */
function isProvenByProduct({ file, failed }: Removal): boolean {
  return !isOfSimulator(file) && failed.some((test) => !isOfSimulator(test.file));
}

function sectionLines({ title, note, statements }: Section, { tests, simulatorOnly }: CoverageSources): string[] {
  const row = ({ id, kind, says }: Statement) => {
    const reason = simulatorOnly[id];
    const proof = reason === undefined ? 'product' : `simulator only: ${reason}`;
    return [kind, says, `\`${id}\``, proof, testsNaming(id, tests).map(asListItem).join('<br>')];
  };
  const head = ['Kind', 'Statement', 'Id', 'Proof', 'Tests'];
  return [`## ${title}`, '', ...(note === undefined ? [] : [note, '']), ...table(head, statements.map(row)), ''];
}

function asListItem({ file, title }: { readonly file: string; readonly title: string }): string {
  const name = file.replace(/^test\//, '').replace(/\.test\.ts$/, '');
  return `\`${name}\`: ${title.replaceAll(/[*_<>`\\]/g, String.raw`\$&`)}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
