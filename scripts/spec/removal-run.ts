/** Runs tests in a copy of the project with one behaviour removed. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { withChange, type Change, type Removal } from '#scripts/spec/removals/removal.ts';
import type { TaggedTest } from '#scripts/spec/spec-tags.ts';

/** Failing tests mostly wait for a time-out, so the copy has shorter ones. */
const SHORTER_WAITS = [
  { file: 'vitest.config.ts', find: 'timeout: 60_000', replace: 'timeout: 40_000' },
  { file: 'test/support/wait-for.ts', find: 'timeoutMs = 90_000', replace: 'timeoutMs = 40_000' },
  { file: 'test/support/servers/stack.ts', find: 'timeoutMs = 150_000', replace: 'timeoutMs = 40_000' },
  { file: 'test/support/work/books/books.ts', find: 'QUIET_MS = 110_000', replace: 'QUIET_MS = 10_000' },
] as const;

/** Folders that are large or not needed by tests. */
const LEFT_OUT: ReadonlySet<string> = new Set(['node_modules', '.git', '.cache', '.data', 'coverage', 'artifacts']);

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** A copy of the project with removals. */
export interface BrokenCopy extends Disposable {
  /**
   * Applies a removal, runs tests and reverts the removal.
   *
   * @param removal when absent, the tests run in the unchanged copy.
   * @returns the tests that failed. A test that did not run, because its file could not be loaded, did not fail.
   */
  failing(tests: readonly TaggedTest[], removal?: Removal): readonly TaggedTest[];
}

/** Copies the project below its `.cache`. @param root folder of the project. */
export function openCopy(root: string): BrokenCopy {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const copy = mkdtempSync(join(root, '.cache/removals-'));
  const isNeeded = (path: string): boolean => !LEFT_OUT.has(basename(path));
  for (const name of readdirSync(root).filter(isNeeded)) {
    cpSync(join(root, name), join(copy, name), { recursive: true, filter: isNeeded });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const change of SHORTER_WAITS) changeFile(copy, change);

  return {
    failing(tests, removal) {
      const restore = removal === undefined ? () => undefined : changeFile(copy, removal);
      try {
        const byProject = Map.groupBy(tests, ({ file }) => projectOf(file));
        return [...byProject].flatMap(([project, of]) => failingOf(copy, project, of));
      } finally {
        restore();
      }
    },
    [Symbol.dispose]() {
      rmSync(copy, { recursive: true, force: true });
    },
  };
}

/** @returns a function that reverts the change. */
function changeFile(copy: string, change: Change): () => void {
  const path = join(copy, change.file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, withChange(source, change));
  return () => writeFileSync(path, source);
}

/** The project of `vitest.config.ts` that runs a file. */
function projectOf(file: string): string {
  const [, folder = ''] = file.split('/');
  return ['workflow', 'integration', 'fault'].includes(folder) ? folder : 'fast';
}

function failingOf(copy: string, project: string, tests: readonly TaggedTest[]): TaggedTest[] {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const files = [...new Set(tests.map(({ file }) => file))];
  const names = tests.map(({ title }) => patternOf(title)).join('|');
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const run = ['run', '--project', project, '-t', names, '--reporter=json', `--outputFile=${report}`, ...files];
  spawnSync(process.execPath, [vitest, ...run], { cwd: copy, stdio: 'ignore' });
  const { testResults } = reportSchema.parse(JSON.parse(readFileSync(report, 'utf8')));
  return tests.filter(({ file, title }) => {
    const results = testResults.find(({ name }) => name.endsWith(`/${file}`))?.assertionResults ?? [];
    const pattern = new RegExp(patternOf(title));
    return results.some(({ fullName, status }) => status === 'failed' && pattern.test(fullName));
  });
}

/**
 * A regular expression for the full name of a test: titles of groups and placeholders (`%s`, `$name`, `…`) match any
 * text.
 */
function patternOf(title: string): string {
  const plain = title.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return plain.replaceAll(/ › |%[sdifjoOc#]|\\\$[a-zA-Z.]+|…/g, '.*');
}
