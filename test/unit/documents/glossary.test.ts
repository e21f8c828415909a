import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ATTEMPT_STATES } from '#domain/relay/observation.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { WORK_STATUSES } from '#domain/work/lifecycle.ts';
import { PROJECT } from '#test/support/compose.ts';

const DOCUMENT = readFileSync(join(PROJECT, 'docs/glossary.md'), 'utf8');

/** The rows of the first table after `heading`, cell by cell. */
function rowsAfter(heading: string): string[][] {
  const [, after = ''] = DOCUMENT.split(heading);
  const [table = ''] = /(?:^\|.*\|\n)+/m.exec(after) ?? [];
  const [, , ...rows] = table.trim().split('\n');
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
}

const valuesAfter = (heading: string) => rowsAfter(heading).map(([value = '']) => value.replaceAll('`', ''));

describe('docs/glossary.md', () => {
  it.each([
    ['**Statuses of work**', WORK_STATUSES],
    ['**States of an attempt**', ATTEMPT_STATES],
  ])('lists under %s exactly the values of the code', (heading, values) => {
    expect(valuesAfter(heading).toSorted()).toEqual([...values].toSorted());
  });

  it('lists the failure classes by their certainty', () => {
    const listed = rowsAfter('**Failure classes**').map(([name = '', values = '']) => [
      name,
      values.match(/\w+/g)?.toSorted(),
    ]);
    const classes = Object.entries(FAILURE_CLASSES);
    const of = (wanted: string) =>
      classes.flatMap(([name, { certainty }]) => (certainty === wanted ? [name] : [])).toSorted();
    expect(listed).toEqual(['definite', 'unknown'].map((certainty) => [certainty, of(certainty)]));
  });
});
