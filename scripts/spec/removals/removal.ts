import { testsNaming, type TaggedTest } from '#scripts/spec/spec-tags.ts';

/** A change of one text in one file. */
export interface Change {
  /** Relative to the project. */
  readonly file: string;
  /** Text that the file has exactly once. Short, so that other changes of the file leave it alone. */
  readonly find: string;
  /** What takes its place. */
  readonly replace: string;
}

/** Behaviour that is broken on purpose, to see that the tests which name its statement fail. */
export interface Removal extends Change {
  /** Id of the statement whose row it checks. */
  readonly id: string;
  /** What the code then does, as a sentence. */
  readonly removed: string;
  /** Tests that name the statement and then failed. */
  readonly failed: readonly FailedTest[];
}

interface FailedTest {
  /** Relative to the project. */
  readonly file: string;
  /** A part of the title. Of the tests of the file that name the statement, only one has it. */
  readonly title: string;
}

/** Finds the tests that failed. @throws Error when one is not there, or is not told from another. */
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

/** True for the simulator and its tests: what fails there says nothing about the product. */
export function isOfSimulator(file: string): boolean {
  return file.startsWith('simulator/') || file.startsWith('test/simulator/');
}
