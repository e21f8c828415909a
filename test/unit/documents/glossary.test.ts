import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ATTEMPT_STATES } from '#domain/relay/observation.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { WORK_STATUSES } from '#domain/work/lifecycle.ts';
import { PROJECT } from '#test/support/compose.ts';

const DOCUMENT = readFileSync(join(PROJECT, 'docs/glossary.md'), 'utf8');
const MOST_TERMS = 40;

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
  it('has at most forty terms, in alphabetical order, each once and with a meaning', () => {
    const rows = rowsAfter('# Glossary');
    const terms = rows.map(([term = '']) => term);
    expect(terms.length).toBeGreaterThan(20);
    expect(terms.length).toBeLessThanOrEqual(MOST_TERMS);
    expect(terms).toEqual([...new Set(terms)].toSorted());
    for (const row of rows) expect(row.at(-1), row[0]).toMatch(/\w{3}/);
  });

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
