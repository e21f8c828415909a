import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';

const MOST_LINES = 300;
const MOST_COLUMNS = 120;
const TESTS = /^(?:test|bench)\//;

/** Product files that are still longer. Split one, then remove it from this list. Add none. */
const LONG_FILES: readonly string[] = [];
/** Regular expressions that do not fit into a line. The number may only decrease. */
const WIDE_LINES = 3;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.mjs'], {
  cwd: PROJECT,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((file) => !TESTS.test(file) && existsSync(join(PROJECT, file)));
const linesOf = (file: string) => readFileSync(join(PROJECT, file), 'utf8').trimEnd().split('\n');

describe('the code', () => {
  it(`has no file of more than ${MOST_LINES} lines outside of the list`, () => {
    expect(files.length).toBeGreaterThan(500);
    expect(files.filter((file) => linesOf(file).length > MOST_LINES)).toEqual(LONG_FILES);
  });

  it(`has no more lines wider than ${MOST_COLUMNS} columns than the number here`, () => {
    const wide = files.flatMap((file) =>
      linesOf(file)
        .filter((line) => line.length > MOST_COLUMNS)
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(wide.length, wide.join('\n')).toBeLessThanOrEqual(WIDE_LINES);
  });
});
