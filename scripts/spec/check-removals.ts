/**
 * `npm run check:removals [ID…]`: removes each behaviour of `scripts/spec/removals/` from a copy of the project and
 * runs the tests that must then fail. Exits with 1 when one of them passes, or fails without a removal.
 */
import { join } from 'node:path';
import { openCopy } from '#scripts/spec/removal-run.ts';
import { REMOVALS } from '#scripts/spec/removals.ts';
import { failedTests } from '#scripts/spec/removals/removal.ts';
import { readTags } from '#scripts/spec/spec-tags.ts';

const root = join(import.meta.dirname, '../..');
const wanted = process.argv.slice(2);
const unknown = wanted.filter((id) => !REMOVALS.some((removal) => removal.id === id));
if (unknown.length > 0) throw new Error(`no removal is recorded for ${unknown.join(', ')}`);

const { tests } = readTags(root);
const chosen = REMOVALS.filter(({ id }) => wanted.length === 0 || wanted.includes(id));
using copy = openCopy(root);
const all = new Set(chosen.flatMap((removal) => failedTests(removal, tests)));
const broken = copy.failing([...all]);
for (const { file, title } of broken) print(`✘ fails without a removal: ${file}: ${title}`);

let passes = 0;
for (const removal of chosen) {
  const expected = failedTests(removal, tests);
  const failing = copy.failing(expected, removal);
  const passing = expected.filter((test) => !failing.includes(test));
  passes += passing.length;
  print(`${passing.length === 0 ? '✔' : '✘'} ${removal.id}: ${removal.removed}`);
  for (const { file, title } of passing) print(`    did not fail: ${file}: ${title}`);
}
const result = passes === 0 ? 'all their tests failed' : `${passes} of their tests did not fail`;
print(`${chosen.length} removals; ${result}`);
if (passes + broken.length > 0) process.exitCode = 1;

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
