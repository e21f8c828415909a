import { testsNaming, type TaggedTest } from '#scripts/spec/spec-tags.ts';

/** A change of one text in one file. */
export interface Change {
  /** Relative to the project. */
  readonly file: string;
  /** A text that occurs exactly once in the file. Keep it short, so that other changes of the file do not affect it. */
  readonly find: string;
  /** The replacement. */
  readonly replace: string;
}

/** A behaviour that is removed on purpose, to see that the tests that name its statement fail. */
export interface Removal extends Change {
  /** Id of the statement that it proves. */
  readonly id: string;
  /** What the code does after the removal, as a sentence. */
  readonly removed: string;
  /** The tests that name the statement and failed after the removal. */
  readonly failed: readonly FailedTest[];
}

interface FailedTest {
  /** Relative to the project. */
  readonly file: string;
  /** A part of the title. Only one test of the file that names the statement may contain it. */
  readonly title: string;
}

/** Finds the recorded tests. @throws Error when one does not exist, or the title matches several. */
export function failedTests(
  { id, failed }: Pick<Removal, 'id' | 'failed'>,
  tests: readonly TaggedTest[],
): TaggedTest[] {
  return failed.map(({ file, title }) => {
    const found = testsNaming(id, tests).filter((test) => test.file === file && test.title.includes(title));
    const [test, ...more] = found;
    if (test !== undefined && more.length === 0) return test;
    throw new Error(`removal of ${id}: ${found.length} tests of ${file} name it and have "${title}" in their title`);
  });
}

/** @returns the source with the change. @throws Error unless the source has the text exactly once. */
export function withChange(source: string, { file, find, replace }: Change): string {
  const count = source.split(find).length - 1;
  if (count !== 1) throw new Error(`${file} has this text ${count} times, not once: ${find}`);
  return source.replace(find, () => replace);
}

/** True for the simulator and its tests: a failure there proves nothing about the product. */
export function isOfSimulator(file: string): boolean {
  return file.startsWith('simulator/') || file.startsWith('test/simulator/');
}
