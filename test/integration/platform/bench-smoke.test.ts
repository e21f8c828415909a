import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { benchResults } from '#bench/results.ts';
import { TestProcess } from '#test/support/servers/processes.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

// The benchmarks of memory and start take too long for a test. They run with every full benchmark.
it.each([
  [
    'webhook-ingest',
    {
      'webhook_ingest.busy.plain_handler': 'plain_handler',
      'webhook_ingest.busy.no_database': 'no_database',
      'webhook_ingest.alone.plain_handler': 'plain_handler',
    },
  ],
  [
    'order-to-delivery',
    {
      'order_to_delivery.alone.empty_workflow': 'empty_workflow',
      'order_to_delivery.at_50.empty_workflow': 'empty_workflow',
    },
  ],
  [
    'api-orders',
    {
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
    },
  ],
  ['silent-orders', { 'silent_orders.one_by_one': 'one_by_one' }],
])(
  'a quick run of the benchmark %s measures against its peers and writes readable results',
  async (scenario, peers) => {
    const folder = temporaryFolder('bench');
    const output = join(folder, 'results.json');
    await using run = new TestProcess({
      name: 'bench',
      script: 'bench/main.ts',
      args: ['--quick', '--only', scenario, '--output', output],
      environment: { XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? '' },
    });
    expect(await run.exit(), run.tail()).toEqual({ code: 0, signal: null });

    const results = benchResults.parse(JSON.parse(readFileSync(output, 'utf8')));
    expect(results.mode).toBe('quick');
    expect(results.servers).toMatchObject({ fsync: 'on', synchronous_commit: 'on' });
    expect(Object.fromEntries(results.scenarios.map(({ id, peer }) => [id, peer?.id]))).toEqual(peers);
    for (const { id, value } of results.scenarios) expect(run.output()).toMatch(new RegExp(`\\| ${id} .*${value}`));
    removeFolder(folder);
  },
);
