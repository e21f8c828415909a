/**
 * Measures the way of an order: the files and lines that run between `POST /v1/orders` and the delivery, by V8's
 * coverage of API and worker. `npm run measure:order` prints them.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';
import type { RunLines } from '#test/support/servers/run-coverage.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const PRELOAD = join(PROJECT, 'test/support/servers/run-coverage.ts');
/** Files that run, with those of the loops beside the order. A change that needs more says why. */
const MOST_FILES = 185;

it(`runs at most ${MOST_FILES} files for an order`, async () => {
  const folder = temporaryFolder('order-way');
  const environment = { NODE_OPTIONS: `--import=${PRELOAD}`, RUN_COVERAGE_FOLDER: folder };
  await using stack = await startStack({ environment, simulator: { NODE_OPTIONS: '' } });
  const buy = async () => {
    const accepted = await stack.order({ package_id: 2001 });
    await stack.orderReaches(accepted.textAt('id'), ['completed']);
  };
  const proceed = () => (['api', 'worker'] as const).forEach((name) => stack.process(name).signal('SIGUSR2'));
  // The first order reads what later ones find in memory.
  await buy();
  proceed();
  await buy();
  proceed();
  const allThree = () => {
    const files = readdirSync(folder);
    return files.length >= 3 && files;
  };
  const context = () => stack.outputs().slice(-3_000);
  const written = await waitFor('the coverage of API, worker and workflow thread is written', allThree, { context });

  const ran = new Map<string, Set<number>>();
  for (const name of written) {
    const lines = JSON.parse(readFileSync(join(folder, name), 'utf8')) as RunLines;
    for (const [file, numbers] of Object.entries(lines)) {
      if (!file.startsWith('test/')) ran.set(file, new Set([...(ran.get(file) ?? []), ...numbers]));
    }
  }
  // One line alone is the getter of an export, which the bundler made.
  const files = [...ran]
    .filter(([, { size }]) => size > 1)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, { size }]) => ({ file, ran: size, lines: lengthOf(file) }));
  const sum = (of: 'ran' | 'lines') => files.reduce((total, each) => total + each[of], 0);
  const table = files.map((each) => `${String(each.ran).padStart(5)} ${String(each.lines).padStart(5)}  ${each.file}`);
  const text = `${files.length} files, ${sum('lines')} lines, ${sum('ran')} in functions that ran\n${table.join('\n')}\n`;
  mkdirSync(join(PROJECT, 'test/artifacts'), { recursive: true });
  writeFileSync(join(PROJECT, 'test/artifacts/order-way.txt'), text);
  process.stdout.write(text);

  const names = files.map(({ file }) => file);
  expect(names).toEqual(expect.arrayContaining(['workflows/order.ts', 'worker/relay/outbox.ts']));
  expect(files.length).toBeLessThanOrEqual(MOST_FILES);
});

const lengthOf = (file: string) => readFileSync(join(PROJECT, file), 'utf8').split('\n').length - 1;
