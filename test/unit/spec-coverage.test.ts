import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_HEADER_PREFIX,
  ENDPOINTS,
  EVENT_KINDS,
  serviceHeaders,
  type EndpointContract,
} from '#upstream/contract.ts';
import { coverageDocument, coverageProblems, type CoverageSources } from '#scripts/spec-coverage-document.ts';
import { readTags, tagsOf } from '#scripts/spec-tags.ts';
import { REMOVALS } from '#scripts/spec/removals.ts';
import { SECTIONS, STATEMENTS } from '#scripts/spec/statements.ts';
import { PROJECT } from '#test/support/compose.ts';

const reading = readTags(PROJECT);
const sources: CoverageSources = { sections: SECTIONS, tests: reading.tests, removals: REMOVALS };
/** Written apart, so that this file has no tag of its own. */
const tag = (ids: string) => ['[spec', `: ${ids}]`].join('');

describe('docs/reference/spec-coverage.md', () => {
  it('is what statements and tests say today; else run `npm run generate:spec-coverage`', () => {
    expect(readFileSync(join(PROJECT, 'docs/reference/spec-coverage.md'), 'utf8')).toBe(coverageDocument(sources));
  });

  it('has a test for each statement, and each test names statements that exist', () => {
    expect(reading.problems).toEqual([]);
    expect(coverageProblems(sources)).toEqual([]);
  });

  it('has ten rows of different kinds that were checked by removal', () => {
    expect(new Set(REMOVALS.map(({ id }) => id)).size).toBeGreaterThanOrEqual(10);
    const kinds = new Set(STATEMENTS.filter(({ id }) => REMOVALS.some((removal) => removal.id === id)).map(({ kind }) => kind));
    expect(kinds.size).toBeGreaterThanOrEqual(6);
    for (const { failed } of REMOVALS) expect(failed.length).toBeGreaterThan(0);
  });
});

describe('the statements', () => {
  const texts = STATEMENTS.map(({ says }) => says).join('\n');

  it('have each stated call, request field, event and header of the contract', () => {
    const stated = (Object.values(ENDPOINTS) as EndpointContract[]).filter(({ request }) => request === 'stated');
    expect(stated.filter(({ method, path }) => !texts.includes(`\`${method} ${path}\``))).toEqual([]);
    const fields = stated.flatMap(({ body, query = [] }) => [...Object.keys((body as { shape?: object } | undefined)?.shape ?? {}), ...query]);
    expect(fields.filter((field) => !texts.includes(`\`${field}\``))).toEqual([]);
    expect(EVENT_KINDS.filter((event) => !STATEMENTS.some(({ id }) => id === `event.${event}`))).toEqual([]);
    const headers = Object.values(serviceHeaders(DEFAULT_HEADER_PREFIX));
    expect(headers.filter((header) => !texts.includes(`\`${header}\``))).toEqual([]);
  });
});

describe('reading tags', () => {
  const read = (...lines: string[]) => tagsOf('x.test.ts', lines.join('\n'));

  it('finds tests however they are written, with the titles of their groups', () => {
    const { tests, problems } = read(
      `describe('a thing', () => {`,
      `  it('works ${tag('a.b, c')}', () => {});`,
      `  it.each([1])('works with %s ${tag('d')}', () => {});`,
      `  it.each<[number]>([[1]])(\`works with \${1} ${tag('e')}\`, () => {});`,
      `  it.skipIf(false)("works ${tag('f')}", () => {});`,
      `  it('names nothing', () => {});`,
      `});`,
    );
    expect(problems).toEqual([]);
    expect(tests.map(({ title, ids }) => [title, ids])).toEqual([
      ['a thing › works', ['a.b', 'c']],
      ['a thing › works with %s', ['d']],
      ['a thing › works with …', ['e']],
      ['a thing › works', ['f']],
    ]);
  });

  it.each([
    [`it.skip('works ${tag('a')}', () => {});`, 'does not run'],
    [`it.todo('works ${tag('a')}');`, 'does not run'],
    [`describe('a thing ${tag('a')}', () => {});`, 'is a group'],
    [`// ${tag('a')}`, 'outside of the titles'],
    [`const title = '${tag('a')}';`, 'outside of the titles'],
  ])('takes nothing for a test that is none: %s', (source, problem) => {
    const { tests, problems } = read(source);
    expect(tests).toEqual([]);
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });
});

describe('the coverage', () => {
  const statement = (id: string) => ({ id, kind: 'rule' as const, says: id });
  const sections = [{ title: 'S', statements: [statement('a.one'), statement('a.two'), statement('b')] }];
  const test = (...ids: string[]) => ({ file: 'x', title: ids.join(), ids });

  it.each([
    ['a statement without a test', [test('a.one'), test('b')], ['a.two has no test']],
    ['a test of an unknown statement', [test('a.*'), test('b', 'c')], ['x: "b,c" names c, which is no statement']],
    ['an area that is none', [test('a.*'), test('b', 'c.*')], ['x: "b,c.*" names c.*, which is no statement']],
    ['nothing', [test('a.*'), test('b')], []],
  ])('reports %s', (_what, tests, problems) => {
    expect(coverageProblems({ sections, tests, removals: [] })).toEqual(problems);
  });

  it('reports a removal whose test does not name the statement', () => {
    const tests = [test('a.*'), test('b')];
    const removal = (id: string) => ({ id, removed: 'x', file: 'y', failed: [{ file: 'x', title: 'b' }] });
    expect(coverageProblems({ sections, tests, removals: [removal('b'), removal('a.one')] })).toEqual(['removal of a.one: "b" does not name it']);
  });
});
