import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { BenchResults } from '#bench/results.ts';
import { TestProcess } from '#test/support/servers/processes.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

// The other benchmarks take too long for a test, or need packages of their own. They run with every full benchmark.
const COMPARED = {
  'webhook_ingest.busy.plain_handler': 'plain_handler',
  'webhook_ingest.busy.no_database': 'no_database',
  'webhook_ingest.alone.plain_handler': 'plain_handler',
  'whole_order.alone.empty_workflow': 'empty_workflow',
  'whole_order.at_50.empty_workflow': 'empty_workflow',
  'orders_list.page.among_few': 'among_few',
  'orders_list.statuses.among_few': 'among_few',
  'orders_list.of_package.among_few': 'among_few',
  'orders_list.of_package_failed.among_few': 'among_few',
  'orders_list.updated.among_few': 'among_few',
  'orders_list.deep.among_few': 'among_few',
  'orders_get.among_few': 'among_few',
  'orders_get.plain_express': 'plain_express',
  'orders_list.plain_express': 'plain_express',
  'orders_accept.plain_express': 'plain_express',
};

it('a quick run of the benchmark measures against its peers and writes readable results', async () => {
  const folder = temporaryFolder('bench');
  const output = join(folder, 'results.json');
  const scenarios = ['--only', 'webhook-ingest,whole-order,api-orders', '--without-engines'];
  await using run = new TestProcess({
    name: 'bench',
    script: 'bench/main.ts',
    args: ['--quick', ...scenarios, '--output', output],
    environment: { XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? '' },
  });
  expect(await run.exit(), run.tail()).toEqual({ code: 0, signal: null });
  const results = JSON.parse(readFileSync(output, 'utf8')) as BenchResults;
  expect(results.mode).toBe('quick');
  expect(results.servers).toMatchObject({ fsync: 'on', synchronous_commit: 'on' });
  for (const { id, value } of results.scenarios) expect(run.output()).toMatch(new RegExp(`\\| ${id} .*${value}`));
  expect(Object.fromEntries(results.scenarios.map(({ id, peer }) => [id, peer?.id]))).toEqual(COMPARED);
  removeFolder(folder);
});
