import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';

const TOP_10 = Array.from({ length: 10 }, (_, place) => `API${place + 1}`);

/** The rows of the table of attacks, by column. */
function attacks(): { attack: string; owasp: string; asvs: string; guards: string; tests: string[] }[] {
  const lines = readFileSync(join(PROJECT, 'docs/security.md'), 'utf8').split('\n');
  const head = lines.indexOf('| attack | OWASP API | ASVS | what guards | shown by |');
  const table = lines.slice(
    head + 2,
    lines.findIndex((line, place) => place > head && line === ''),
  );
  return table.map((line) => {
    const [attack = '', owasp = '', asvs = '', guards = '', shownBy = ''] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    return {
      attack,
      owasp,
      asvs,
      guards,
      tests: [...shownBy.matchAll(/\]\((\.\.\/test\/[^)]+)\)/g)].map(([, path = '']) => path),
    };
  });
}

describe('docs/security.md', () => {
  it('covers each risk of the OWASP API Security Top 10 (2023)', () => {
    const named = attacks()
      .flatMap(({ owasp }) => owasp.split(', '))
      .filter((id) => id !== '–');
    expect([...new Set(named)].toSorted()).toEqual(TOP_10.toSorted());
  });

  it('has a guard, an ASVS id and an existing test for every attack', () => {
    const rows = attacks();
    expect(rows.length).toBeGreaterThanOrEqual(20);
    for (const { attack, asvs, guards, tests } of rows) {
      expect([attack, /^\d+\.\d+\.\d+(, \d+\.\d+\.\d+)*$/.test(asvs), guards !== '', tests.length > 0]).toEqual([
        attack,
        true,
        true,
        true,
      ]);
      expect([
        attack,
        tests.filter((path) => !path.endsWith('.test.ts') || !existsSync(join(PROJECT, 'docs', path))),
      ]).toEqual([attack, []]);
    }
  });
});
