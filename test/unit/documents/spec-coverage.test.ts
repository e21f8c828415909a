import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REMOVALS } from '#scripts/spec/removals.ts';
import { failedTests, withChange, type Removal } from '#scripts/spec/removals/removal.ts';
import { SIMULATOR_ONLY } from '#scripts/spec/simulator-only.ts';
import { coverageDocument, coverageProblems, type CoverageSources } from '#scripts/spec/spec-coverage-document.ts';
import { readTags, tagsOf } from '#scripts/spec/spec-tags.ts';
import { SECTIONS, STATEMENTS } from '#scripts/spec/statements.ts';
import { PROJECT } from '#test/support/compose.ts';
import {
  DEFAULT_HEADER_PREFIX,
  ENDPOINTS,
  EVENT_KINDS,
  serviceHeaders,
  type EndpointContract,
} from '#upstream/contract.ts';

const reading = readTags(PROJECT);
const sources: CoverageSources = {
  sections: SECTIONS,
  tests: reading.tests,
  removals: REMOVALS,
  simulatorOnly: SIMULATOR_ONLY,
};
/** Split, so that this file has no tag itself. */
const tag = (ids: string) => ['[spec', `: ${ids}]`].join('');

describe('docs/reference/spec-coverage.md', () => {
  it('is up to date; otherwise run `npm run generate:spec-coverage`', () => {
    expect(readFileSync(join(PROJECT, 'docs/reference/spec-coverage.md'), 'utf8')).toBe(coverageDocument(sources));
  });

  it('has a test for each statement that was seen to fail, and tests name only existing statements', () => {
    expect(reading.problems).toEqual([]);
    expect(coverageProblems(sources)).toEqual([]);
  });
});

describe('each removal', () => {
  it.each(REMOVALS)('of $id is still applicable: $removed', (removal) => {
    const source = readFileSync(join(PROJECT, removal.file), 'utf8');
    expect(withChange(source, removal)).not.toBe(source);
  });
});

describe('the statements', () => {
  const texts = STATEMENTS.map(({ says }) => says).join('\n');

  it('include each stated call, request field, event and header of the contract', () => {
    const stated = (Object.values(ENDPOINTS) as EndpointContract[]).filter(({ request }) => request === 'stated');
    expect(stated.filter(({ method, path }) => !texts.includes(`\`${method} ${path}\``))).toEqual([]);
    const fields = stated.flatMap(({ body, query = [] }) => [
      ...Object.keys((body as { shape?: object } | undefined)?.shape ?? {}),
      ...query,
    ]);
    expect(fields.filter((field) => !texts.includes(`\`${field}\``))).toEqual([]);
    expect(EVENT_KINDS.filter((event) => !STATEMENTS.some(({ id }) => id === `event.${event}`))).toEqual([]);
    const headers = Object.values(serviceHeaders(DEFAULT_HEADER_PREFIX));
    expect(headers.filter((header) => !texts.includes(`\`${header}\``))).toEqual([]);
  });
});

describe('the reader of tags', () => {
  const read = (...lines: string[]) => tagsOf('x.test.ts', lines.join('\n'));

  it('finds tests in every notation, with the titles of their groups', () => {
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
  ])('ignores everything that is no test: %s', (source, problem) => {
    const { tests, problems } = read(source);
    expect(tests).toEqual([]);
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });
});

describe('the coverage', () => {
  const statement = (id: string) => ({ id, kind: 'rule' as const, says: id });
  const sections = [{ title: 'S', statements: [statement('a.one'), statement('a.two'), statement('b')] }];
  const test = (...ids: string[]) => ({ file: 'x', title: ids.join(), ids });
  const failing = (title: string, file = 'x') => ({ file, title });
  const removal = (id: string, failed = [failing(id)], file = 'domain/x.ts'): Removal => {
    return { id, removed: 'x', file, find: 'x', replace: 'y', failed };
  };
  const notFound = (id: string, title: string) =>
    `removal of ${id}: 0 tests of x name it and have "${title}" in their title`;
  const all = [removal('a.one', [failing('a.*')]), removal('a.two', [failing('a.*')]), removal('b')];
  const problemsOf = (change: Partial<CoverageSources>) =>
    coverageProblems({ sections, tests: [test('a.*'), test('b')], removals: all, simulatorOnly: {}, ...change });

  it('has no problem when each statement has a test that was seen to fail', () => {
    expect(problemsOf({})).toEqual([]);
  });

  it.each([
    ['a statement without a test', [test('a.*')], ['b has no test', notFound('b', 'b')]],
    ['a test of an unknown statement', [test('a.*'), test('b', 'c')], ['x: "b,c" names c, which is no statement']],
    ['an area that is none', [test('a.*'), test('b', 'c.*')], ['x: "b,c.*" names c.*, which is no statement']],
  ])('reports %s', (_what, tests, problems) => {
    expect(problemsOf({ tests })).toEqual(problems);
  });

  const ofSimulator = removal('b', [failing('b', 'test/simulator/x')]);
  const unproven = ['b: no test of the product was seen to fail'];

  it.each<[string, Removal[], string[]]>([
    ['a statement that was never removed', [], unproven],
    ['a removal that no test noticed', [removal('b', [])], unproven],
    ['a removal that only a test of the simulator noticed', [ofSimulator], unproven],
    ['a removal in the simulator', [removal('b', [failing('b')], 'simulator/x.ts')], unproven],
    ['a test that does not name the statement', [removal('b', [failing('a.*')])], [notFound('b', 'a.*')]],
    [
      'a removal of no statement',
      [removal('b'), removal('c')],
      ['removal of c, which is no statement', notFound('c', 'c')],
    ],
  ])('reports %s', (_what, removals, problems) => {
    const tests = [test('a.*'), test('b'), { ...test('b'), file: 'test/simulator/x' }];
    expect(problemsOf({ tests, removals: [...all.slice(0, 2), ...removals] })).toEqual(
      expect.arrayContaining(problems),
    );
  });

  it('accepts a test of the simulator for a statement with a reason, and only there', () => {
    const simulatorOnly = { b: 'Only the service can do it.' };
    const tests = [test('a.*'), { ...test('b'), file: 'test/simulator/x' }];
    const proven = { ...ofSimulator, file: 'simulator/x.ts' };
    expect(problemsOf({ simulatorOnly, tests, removals: [...all.slice(0, 2), proven] })).toEqual([]);
    expect(problemsOf({ simulatorOnly, tests, removals: all.slice(0, 2) })).toEqual(['b: no test was seen to fail']);
    const contradiction = 'b is not about the simulator only: a test of the product was seen to fail';
    expect(problemsOf({ simulatorOnly })).toEqual([contradiction]);
  });
});

describe('a removal', () => {
  const change = { file: 'x.ts', find: 'one', replace: '$&two' };

  it('uses its replacement literally', () => {
    expect(withChange('one;', change)).toBe('$&two;');
  });

  it.each(['', 'one one'])('is refused unless its text occurs exactly once: %j', (source) => {
    expect(() => withChange(source, change)).toThrow(/^x\.ts has this text \d times, not once: one$/);
  });

  it('is refused when its test title matches several tests', () => {
    const tests = ['works here', 'works there'].map((title) => ({ file: 'x', title, ids: ['a'] }));
    const failed = [{ file: 'x', title: 'works' }];
    expect(() => failedTests({ id: 'a', failed }, tests)).toThrow('2 tests of x name it');
  });
});
